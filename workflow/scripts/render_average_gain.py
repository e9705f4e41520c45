from pathlib import Path

import pandas as pd

from dpol.core.logs import job_log
from dpol.data.settings import Stream
from dpol.studies.hospitals.average_gain import build_average_gain, write_average_gain
from dpol.studies.hospitals.settings import Report

with job_log(snakemake.log[0]):
    table = build_average_gain(
        pd.read_parquet(snakemake.input.summary),
        streams={k: Stream.model_validate(v) for k, v in snakemake.params.streams.items()},
        levels=snakemake.params.levels,
        report=Report.model_validate(snakemake.params.report),
    )
    for path in map(Path, snakemake.output):
        write_average_gain(table, path)

from pathlib import Path

import pandas as pd

from dpol.logs import job_log
from dpol.tables.amplification import amplification_table, batching_table, settings_of
from dpol.tables.text import write_with_numbers

with job_log(snakemake.log[0]):
    curves = pd.read_parquet(snakemake.input.curves)
    batching = pd.read_parquet(snakemake.input.batching)
    tables = {
        "amplification": (amplification_table(curves), settings_of(curves)),
        "batching": (batching_table(batching), batching),
    }
    for path in map(Path, snakemake.output):
        write_with_numbers(*tables[path.stem], path)

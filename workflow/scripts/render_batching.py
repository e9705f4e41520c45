from pathlib import Path

import pandas as pd

from dpol.core.logs import job_log
from dpol.show.table import write_with_numbers
from dpol.studies.batching.tables import amplification_table, batching_table, settings_of

with job_log(snakemake.log[0]):
    curves = pd.read_parquet(snakemake.input.curves)
    batching = pd.read_parquet(snakemake.input.batching)
    tables = {
        "amplification": (amplification_table(curves), settings_of(curves)),
        "batching": (batching_table(batching), batching),
    }
    for path in map(Path, snakemake.output):
        write_with_numbers(*tables[path.stem], path)

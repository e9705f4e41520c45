from pathlib import Path

import pandas as pd

from dpol.core.logs import job_log
from dpol.show.table import write_with_numbers
from dpol.studies.claims.table import claims_table

with job_log(snakemake.log[0]):
    claims = pd.read_parquet(snakemake.input.claims)
    for path in map(Path, snakemake.output):
        write_with_numbers(claims_table(claims), claims, path)

from pathlib import Path

import pandas as pd

from dpol.logs import job_log
from dpol.tables.claims import claims_table
from dpol.tables.text import write_with_numbers

with job_log(snakemake.log[0]):
    claims = pd.read_parquet(snakemake.input.claims)
    for path in map(Path, snakemake.output):
        write_with_numbers(claims_table(claims), claims, path)

from pathlib import Path

from dpol.core.logs import job_log
from dpol.data.archives import extract_table

with job_log(snakemake.log[0], snakemake.input, snakemake.output):
    extract_table(
        Path(snakemake.input.archive),
        snakemake.params.member,
        Path(snakemake.output.table),
        pinned=snakemake.params.sha256,
    )

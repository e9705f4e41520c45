from pathlib import Path

from dpol.core.logs import job_log
from dpol.report.page import write_page

with job_log(snakemake.log[0]):
    checkout = Path(snakemake.scriptdir).parents[1]
    write_page(Path(snakemake.output.page), snakemake.params, checkout)

from pathlib import Path

from dpol.core.logs import job_log
from dpol.report.page import write_report

with job_log(snakemake.log[0]):
    write_report(
        Path(snakemake.output.page),
        snakemake.params,
        files=map(Path, snakemake.input),
        checkout=Path(snakemake.scriptdir).resolve().parents[1],
    )

from pathlib import Path

from dpol.core.logs import job_log
from dpol.report.page import write_report

with job_log(snakemake.log[0]):
    folders = Path(snakemake.scriptdir).resolve().parents
    snakefile = next(it for it in (folder / "Snakefile" for folder in folders) if it.exists())
    write_report(
        Path(snakemake.output.page),
        snakemake.params,
        map(Path, snakemake.input),
        snakefile,
    )

from pathlib import Path

from dpol.reruns.job import job_log

files = [*snakemake.input, *snakemake.params.played]
with job_log(snakemake.log[0], files, snakemake.output, params=snakemake.params):
    from dpol.report.page import write_report

    write_report(
        Path(snakemake.output.page),
        config_name=snakemake.params.config_name,
        config_text=snakemake.params.config_text,
        snakefile=snakemake.params.snakefile,
        packages=map(tuple, snakemake.params.packages),
        files=files,
        logs=Path(snakemake.params.job[0], "logs"),
        jobs=dict(snakemake.params.sources),
        checkout=Path(snakemake.scriptdir).resolve().parents[1],
    )

from pathlib import Path

from dpol.reruns.job import job_log

files = [*snakemake.input, *snakemake.params.played]
with job_log(snakemake.log[0], files, snakemake.output, snakemake.params):
    from dpol.report.page import write_report
    from dpol.report.parts import Params
    from dpol.reruns.code_hashes import code_of_results

    write_report(
        Path(snakemake.output.page),
        Params(
            config_name=snakemake.params.config_name,
            config_text=snakemake.params.config_text,
            snakefile=snakemake.params.snakefile,
            code=code_of_results(),
            packages=tuple(map(tuple, snakemake.params.packages)),
        ),
        files=files,
        logs=Path(snakemake.log[0]).parent,
        jobs=dict(snakemake.params.sources),
        checkout=Path(snakemake.scriptdir).resolve().parents[1],
    )

from dpol.reruns.job import job_log

with job_log(snakemake.log[0], snakemake.input, snakemake.output, snakemake.params):
    from dpol.studies.showing import write_shown
    from dpol.studies.study import Facts

    write_shown(
        snakemake.params.study,
        snakemake.params.section,
        Facts(**snakemake.params.facts),
        results=dict(snakemake.input.items()),
        files=list(snakemake.output),
    )

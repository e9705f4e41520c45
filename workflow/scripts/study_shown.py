from dpol.reruns.job import job_log

with job_log(snakemake.log[0], snakemake.input, snakemake.output, snakemake.params):
    from dpol.studies.showing import write_shown
    from dpol.studies.study import Facts

    for section, of in snakemake.params.sections.items():
        write_shown(
            of["study"],
            section,
            Facts(**snakemake.params.facts),
            results=dict(snakemake.input.items()),
            files=list(snakemake.output),
        )

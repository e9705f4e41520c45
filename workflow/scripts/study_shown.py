from dpol.reruns.job import job_log

with job_log(snakemake.log[0], snakemake.input, snakemake.output, snakemake.params):
    from dpol.studies.showing import write_shown
    from dpol.studies.study import SomeFacts

    for section in snakemake.params.sections:
        write_shown(
            snakemake.params.study,
            section,
            SomeFacts(snakemake.params.facts),
            results=dict(snakemake.input.items()),
            files=list(snakemake.output),
        )

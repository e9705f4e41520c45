from dpol.reruns.job import job_log

with job_log(snakemake.log[0], snakemake.input, snakemake.output, params=snakemake.params):
    from dpol.studies.jobs import write_results
    from dpol.studies.study import SomeFacts

    write_results(
        snakemake.params.study,
        snakemake.params.settings,
        SomeFacts(snakemake.params.facts),
        inputs=dict(snakemake.input.items()),
        files=dict(snakemake.output.items()),
    )

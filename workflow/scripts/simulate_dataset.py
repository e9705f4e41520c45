from dpol.reruns.job import job_log

with job_log(snakemake.log[0], outputs=snakemake.output, params=snakemake.params):
    from dpol.data.settings import SimulatedSource
    from dpol.data.simulator import simulate_hospitals
    from dpol.data.table import write_raw_table

    source = SimulatedSource.model_validate(snakemake.params.source)
    table = simulate_hospitals(
        source.hospitals, source.weeks, source.first_week, snakemake.params.seed
    )
    write_raw_table(table, snakemake.output.table)

from dpol.core.logs import job_log
from dpol.studies.jobs import write_results
from dpol.studies.study import Facts, load_section

with job_log(snakemake.log[0]):
    write_results(
        load_section(snakemake.params.module, snakemake.params.study),
        snakemake.params.settings,
        Facts(**snakemake.params.facts),
        parts=dict(snakemake.input.items()),
        files=dict(snakemake.output.items()),
    )

from dpol.core.logs import job_log
from dpol.studies.showing import write_shown
from dpol.studies.study import Facts, load_section

with job_log(snakemake.log[0]):
    write_shown(
        load_section(snakemake.params.module, snakemake.params.section),
        snakemake.params.settings,
        Facts(**snakemake.params.facts),
        results=dict(snakemake.input.items()),
        files=list(snakemake.output),
    )

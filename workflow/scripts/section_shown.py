from dpol.core.logs import job_log
from dpol.studies.jobs import write_shown
from dpol.studies.registry import load_section
from dpol.studies.study import Facts

with job_log(snakemake.log[0]):
    write_shown(
        load_section(snakemake.params.section),
        snakemake.params.settings,
        Facts(**snakemake.params.facts),
        results=dict(snakemake.input.items()),
        files=list(snakemake.output),
    )

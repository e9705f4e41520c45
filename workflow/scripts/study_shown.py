from dpol.core.logs import job_log
from dpol.studies.showing import write_shown
from dpol.studies.study import Facts

with job_log(snakemake.log[0], snakemake.input, snakemake.output):
    write_shown(
        snakemake.params.study,
        snakemake.params.section,
        snakemake.params.settings,
        Facts(**snakemake.params.facts),
        results=dict(snakemake.input.items()),
        files=list(snakemake.output),
    )

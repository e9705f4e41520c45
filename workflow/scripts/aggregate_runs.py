from dpol.core.logs import job_log
from dpol.studies.hospitals.findings import write_summary

with job_log(snakemake.log[0]):
    write_summary(
        snakemake.input.runs,
        snakemake.input.streams,
        snakemake.params,
        dict(snakemake.output.items()),
    )

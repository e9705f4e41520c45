from dpol.core.logs import job_log
from dpol.studies.hospitals.findings import write_results

with job_log(snakemake.log[0]):
    write_results(
        snakemake.input.runs,
        snakemake.input.streams,
        snakemake.params,
        dict(snakemake.output.items()),
    )

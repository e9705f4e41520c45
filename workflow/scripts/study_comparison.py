from dpol.core.logs import job_log
from dpol.studies.hospitals.ablation import write_comparison

with job_log(snakemake.log[0]):
    write_comparison(snakemake.input.runs, snakemake.params, dict(snakemake.output.items()))

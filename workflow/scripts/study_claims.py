from dpol.core.logs import job_log
from dpol.studies.claims.study import study_claims
from dpol.studies.hospitals.summary import write_frame

with job_log(snakemake.log[0]):
    write_frame(study_claims(seed=snakemake.params.seed), snakemake.output.claims)

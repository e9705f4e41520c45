from dpol.core.logs import job_log
from dpol.core.schemas import write_frame
from dpol.studies.claims.study import study_claims

with job_log(snakemake.log[0]):
    write_frame(study_claims(seed=snakemake.params.seed), snakemake.output.claims)

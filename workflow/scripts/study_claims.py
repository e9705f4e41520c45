from dpol.evaluation.claims.study import study_claims
from dpol.evaluation.summary import write_frame
from dpol.logs import job_log

with job_log(snakemake.log[0]):
    write_frame(study_claims(seed=snakemake.params.seed), snakemake.output.claims)

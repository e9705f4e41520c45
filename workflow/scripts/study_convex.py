from dpol.config import Convex
from dpol.evaluation.convex import study_convex
from dpol.evaluation.summary import write_frame
from dpol.logs import job_log

with job_log(snakemake.log[0]):
    study = Convex.model_validate(snakemake.params.study)
    write_frame(study_convex(study, seed=snakemake.params.seed), snakemake.output.regrets)

from dpol.evaluation.summary import write_frame
from dpol.logs import job_log
from dpol.studies.convex.settings import Convex
from dpol.studies.convex.study import study_convex

with job_log(snakemake.log[0]):
    study = Convex.model_validate(snakemake.params.study)
    regrets = study_convex(
        study, seed=snakemake.params.seed, confidence=snakemake.params.confidence
    )
    write_frame(regrets, snakemake.output.regrets)

from dpol.core.logs import job_log
from dpol.core.schemas import write_frame
from dpol.evaluation.convex import study_convex
from dpol.studies.pending import Convex

with job_log(snakemake.log[0]):
    study = Convex.model_validate(snakemake.params.study)
    regrets = study_convex(
        study, seed=snakemake.params.seed, confidence=snakemake.params.confidence
    )
    write_frame(regrets, snakemake.output.regrets)

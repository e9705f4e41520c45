from dpol.core.logs import job_log
from dpol.core.schemas import write_frame
from dpol.evaluation.lazy import study_lazy
from dpol.studies.pending import Lazy

with job_log(snakemake.log[0]):
    study = Lazy.model_validate(snakemake.params.study)
    regrets = study_lazy(study, seed=snakemake.params.seed, confidence=snakemake.params.confidence)
    write_frame(regrets, snakemake.output.regrets)

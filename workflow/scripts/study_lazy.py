from dpol.evaluation.summary import write_frame
from dpol.logs import job_log
from dpol.studies.lazy.settings import Lazy
from dpol.studies.lazy.study import study_lazy

with job_log(snakemake.log[0]):
    study = Lazy.model_validate(snakemake.params.study)
    regrets = study_lazy(study, seed=snakemake.params.seed, confidence=snakemake.params.confidence)
    write_frame(regrets, snakemake.output.regrets)

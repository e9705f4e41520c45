from dpol.config import Lazy
from dpol.evaluation.lazy import study_lazy
from dpol.evaluation.summary import write_frame
from dpol.logs import job_log

with job_log(snakemake.log[0]):
    study = Lazy.model_validate(snakemake.params.study)
    write_frame(study_lazy(study, seed=snakemake.params.seed), snakemake.output.regrets)

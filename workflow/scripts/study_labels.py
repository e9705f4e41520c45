from dpol.core.logs import job_log
from dpol.core.schemas import write_frame
from dpol.evaluation.distributions import Setting, study_setting
from dpol.studies.pending import Distributions

with job_log(snakemake.log[0]):
    study = Distributions.model_validate(snakemake.params.study)
    setting = Setting(**snakemake.params.setting)
    risks = study_setting(study, setting, seed=snakemake.params.seed)
    write_frame(risks, snakemake.output.risks)

from dpol.core.logs import job_log
from dpol.studies.audits.settings import Audits
from dpol.studies.audits.study import study_audit
from dpol.studies.hospitals.summary import write_frame

with job_log(snakemake.log[0]):
    study = Audits.model_validate(snakemake.params.study)
    write_frame(study_audit(study, seed=snakemake.params.seed), snakemake.output.audits)

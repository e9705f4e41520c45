from dpol.config import Audit
from dpol.evaluation.audit.study import study_audit
from dpol.evaluation.summary import write_frame
from dpol.logs import job_log

with job_log(snakemake.log[0]):
    study = Audit.model_validate(snakemake.params.study)
    write_frame(study_audit(study, seed=snakemake.params.seed), snakemake.output.audits)

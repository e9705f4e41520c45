from dpol.core.logs import job_log
from dpol.core.schemas import write_frame
from dpol.data.stream import read_stream
from dpol.evaluation.distributions import study_hospitals
from dpol.studies.pending import Distributions

with job_log(snakemake.log[0]):
    study = Distributions.model_validate(snakemake.params.study)
    stream = read_stream(snakemake.input.stream)
    risks = study_hospitals(study, stream, seed=snakemake.params.seed)
    write_frame(risks, snakemake.output.risks)

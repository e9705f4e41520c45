from dpol.config import Distributions
from dpol.evaluation.distributions import study_hospitals
from dpol.evaluation.summary import write_frame
from dpol.logs import job_log
from dpol.streams import read_stream

with job_log(snakemake.log[0]):
    study = Distributions.model_validate(snakemake.params.study)
    stream = read_stream(snakemake.input.stream)
    risks = study_hospitals(study, stream, seed=snakemake.params.seed)
    write_frame(risks, snakemake.output.risks)

from dpol.config import Amplification
from dpol.evaluation.amplification import study_amplification, study_batching
from dpol.evaluation.summary import write_frame
from dpol.logs import job_log

with job_log(snakemake.log[0]):
    study = Amplification.model_validate(snakemake.params.study)
    seed = snakemake.params.seed
    curves = study_amplification(study, delta=snakemake.params.delta, seed=seed)
    write_frame(curves, snakemake.output.curves)
    batching = study_batching(study, seed=seed, confidence=snakemake.params.confidence)
    write_frame(batching, snakemake.output.batching)

from dpol.core.logs import job_log
from dpol.studies.batching.settings import Batching
from dpol.studies.batching.study import study_amplification, study_batching
from dpol.studies.hospitals.summary import write_frame

with job_log(snakemake.log[0]):
    study = Batching.model_validate(snakemake.params.study)
    seed = snakemake.params.seed
    curves = study_amplification(study, delta=snakemake.params.delta, seed=seed)
    write_frame(curves, snakemake.output.curves)
    batching = study_batching(study, seed=seed, confidence=snakemake.params.confidence)
    write_frame(batching, snakemake.output.batching)

import pandas as pd

from dpol.core.logs import job_log
from dpol.core.schemas import write_frame
from dpol.evaluation.distributions import collect_settings

with job_log(snakemake.log[0]):
    parts = [pd.read_parquet(path) for path in snakemake.input]
    risks = collect_settings(parts, confidence=snakemake.params.confidence)
    write_frame(risks, snakemake.output.risks)

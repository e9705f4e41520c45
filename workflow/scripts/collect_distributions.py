import pandas as pd

from dpol.evaluation.distributions import collect_settings
from dpol.evaluation.summary import write_frame
from dpol.logs import job_log

with job_log(snakemake.log[0]):
    parts = [pd.read_parquet(path) for path in snakemake.input]
    risks = collect_settings(parts, confidence=snakemake.params.confidence)
    write_frame(risks, snakemake.output.risks)

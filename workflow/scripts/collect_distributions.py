import pandas as pd

from dpol.evaluation.distributions import DISTRIBUTION_COLUMNS
from dpol.evaluation.summary import write_frame
from dpol.logs import job_log

with job_log(snakemake.log[0]):
    parts = [pd.read_parquet(path) for path in snakemake.input]
    whole = pd.concat(parts, ignore_index=True)
    write_frame(whole.reindex(columns=list(DISTRIBUTION_COLUMNS)), snakemake.output.risks)

import pandas as pd

from dpol.core.logs import job_log
from dpol.show.style import save_figure
from dpol.studies.batching.figure import draw_amplification

with job_log(snakemake.log[0]):
    save_figure(draw_amplification(pd.read_parquet(snakemake.input.curves)), snakemake.output)

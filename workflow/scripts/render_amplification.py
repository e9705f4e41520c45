import pandas as pd

from dpol.logs import job_log
from dpol.plots.amplification import draw_amplification
from dpol.plots.style import save_figure

with job_log(snakemake.log[0]):
    save_figure(draw_amplification(pd.read_parquet(snakemake.input.curves)), snakemake.output)

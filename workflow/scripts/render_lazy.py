import pandas as pd

from dpol.logs import job_log
from dpol.plots.lazy import draw_lazy_rates, draw_lazy_regret
from dpol.plots.style import save_figure

with job_log(snakemake.log[0]):
    regrets = pd.read_parquet(snakemake.input.regrets)
    save_figure(draw_lazy_regret(regrets), snakemake.output.regret)
    save_figure(draw_lazy_rates(), snakemake.output.rates)

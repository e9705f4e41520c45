import pandas as pd

from dpol.core.logs import job_log
from dpol.show.style import save_figure
from dpol.studies.hospitals.cumulative_gain import draw_cumulative_gain
from dpol.studies.hospitals.shown import read_shown

with job_log(snakemake.log[0]):
    shown = read_shown(snakemake.input.summary, snakemake.params)
    cumulative = pd.read_parquet(snakemake.input.cumulative)
    figure = draw_cumulative_gain(cumulative, shown, snakemake.params.central_noise)
    save_figure(figure, snakemake.output)

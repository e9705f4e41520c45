from dpol.core.logs import job_log
from dpol.show.style import save_figure
from dpol.studies.hospitals.cumulative_gain import draw_cumulative_gain
from dpol.studies.hospitals.shown import read_shown

with job_log(snakemake.log[0]):
    shown, frames = read_shown(snakemake.input, snakemake.params)
    save_figure(draw_cumulative_gain(frames["cumulative"], shown), snakemake.output)

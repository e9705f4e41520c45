from dpol.logs import job_log
from dpol.plots.style import save_figure
from dpol.studies.lazy.rates import draw_lazy_rates

with job_log(snakemake.log[0]):
    save_figure(draw_lazy_rates(), snakemake.output)

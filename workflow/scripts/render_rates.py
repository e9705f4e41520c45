from dpol.core.logs import job_log
from dpol.plots.lazy_rates import draw_lazy_rates
from dpol.show.style import save_figure

with job_log(snakemake.log[0]):
    save_figure(draw_lazy_rates(), snakemake.output)

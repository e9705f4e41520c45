import pandas as pd

from dpol.logs import job_log
from dpol.plots.audit import draw_audit
from dpol.plots.style import save_figure

with job_log(snakemake.log[0]):
    save_figure(draw_audit(pd.read_parquet(snakemake.input.audits)), snakemake.output)

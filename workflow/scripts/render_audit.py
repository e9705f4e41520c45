import pandas as pd

from dpol.core.logs import job_log
from dpol.show.style import save_figure
from dpol.studies.audits.figure import draw_audit

with job_log(snakemake.log[0]):
    save_figure(draw_audit(pd.read_parquet(snakemake.input.audits)), snakemake.output)

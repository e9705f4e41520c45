from pathlib import Path

import pandas as pd

from dpol.core.logs import job_log
from dpol.plots.distributions import draw_risk, draw_selection
from dpol.plots.hospital_losses import draw_hospitals
from dpol.show.style import save_figure
from dpol.show.table import write_with_numbers
from dpol.tables.distributions import BY_RUN, distribution_table

with job_log(snakemake.log[0]):
    risks = pd.read_parquet(snakemake.input.risks)
    simulated = snakemake.params.simulated
    save_figure(draw_risk(risks), snakemake.output.risk)
    save_figure(draw_selection(risks), snakemake.output.selection)
    save_figure(draw_hospitals(risks, simulated=simulated), snakemake.output.hospitals)
    table = distribution_table(risks, simulated=simulated)
    for path in map(Path, snakemake.output.table):
        write_with_numbers(table, risks.drop(columns=list(BY_RUN)), path)

from pathlib import Path

import pandas as pd

from dpol.core.logs import job_log
from dpol.plots.regret import draw_convex_regret, draw_lazy_regret
from dpol.show.style import save_figure
from dpol.show.table import write_with_numbers
from dpol.tables.lazy import SETTINGS, regret_table

DRAW = {"lazy": draw_lazy_regret, "convex": draw_convex_regret}

with job_log(snakemake.log[0]):
    study = snakemake.wildcards.study
    regrets = pd.read_parquet(snakemake.input.regrets)
    save_figure(DRAW[study](regrets), snakemake.output.figure)
    table = regret_table(regrets, SETTINGS[study])
    for path in map(Path, snakemake.output.table):
        write_with_numbers(table, regrets, path)

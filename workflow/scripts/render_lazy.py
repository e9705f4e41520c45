from pathlib import Path

import pandas as pd

from dpol.logs import job_log
from dpol.plots.style import save_figure
from dpol.studies.convex.shown import CONVEX
from dpol.studies.lazy.figures import draw_regret
from dpol.studies.lazy.shown import EXPERTS
from dpol.studies.lazy.table import regret_table
from dpol.tables.text import write_with_numbers

GAMES = {"lazy": EXPERTS, "convex": CONVEX}

with job_log(snakemake.log[0]):
    game = GAMES[snakemake.wildcards.study]
    regrets = pd.read_parquet(snakemake.input.regrets)
    save_figure(draw_regret(regrets, game), snakemake.output.figure)
    table = regret_table(regrets, game)
    for path in map(Path, snakemake.output.table):
        write_with_numbers(table, regrets, path)

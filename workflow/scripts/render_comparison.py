import pandas as pd

from dpol.core.logs import job_log
from dpol.show.style import save_figure
from dpol.show.table import write_table
from dpol.studies.hospitals.ablation_table import ablation_table
from dpol.studies.hospitals.comparison_figure import draw_comparison
from dpol.studies.hospitals.comparison_table import comparison_table
from dpol.studies.hospitals.settings import Comparison
from dpol.studies.hospitals.shown import read_shown

with job_log(snakemake.log[0]):
    comparison, ablation = (
        pd.read_parquet(snakemake.input[name]) for name in ("comparison", "ablation")
    )
    shown = read_shown(snakemake.input.summary, snakemake.params)
    ours = Comparison.model_validate(snakemake.params.comparison).ours
    write_table(comparison_table(comparison, shown), *snakemake.output.comparison)
    write_table(ablation_table(ablation, shown, ours), *snakemake.output.ablation)
    save_figure(draw_comparison(comparison, ablation, shown), snakemake.output.figure)

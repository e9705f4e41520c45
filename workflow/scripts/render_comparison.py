from dpol.core.logs import job_log
from dpol.show.style import save_figure
from dpol.show.table import write_table
from dpol.studies.hospitals.comparison_figure import draw_comparison
from dpol.studies.hospitals.comparison_tables import ablation_table, comparison_table
from dpol.studies.hospitals.settings import Comparison
from dpol.studies.hospitals.shown import read_shown

with job_log(snakemake.log[0]):
    shown, frames = read_shown(snakemake.input, snakemake.params)
    comparison, ablation = frames["comparison"], frames["ablation"]
    ours = Comparison.model_validate(snakemake.params.comparison).ours
    write_table(comparison_table(comparison, shown), *snakemake.output.comparison)
    write_table(ablation_table(ablation, shown, ours), *snakemake.output.ablation)
    save_figure(draw_comparison(comparison, ablation, shown), snakemake.output.figure)

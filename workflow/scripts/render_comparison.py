from pathlib import Path

import pandas as pd

from dpol.core.logs import job_log
from dpol.data.settings import Stream
from dpol.show.style import save_figure
from dpol.show.table import write_with_numbers
from dpol.show.titles import stream_titles
from dpol.studies.hospitals.ablation_table import ablation_table
from dpol.studies.hospitals.comparison_figure import draw_comparison
from dpol.studies.hospitals.comparison_table import comparison_table
from dpol.studies.hospitals.settings import Comparison

with job_log(snakemake.log[0]):
    summary, comparison, ablation = (
        pd.read_parquet(snakemake.input[name]) for name in ("summary", "comparison", "ablation")
    )
    streams = {k: Stream.model_validate(v) for k, v in snakemake.params.streams.items()}
    ours = Comparison.model_validate(snakemake.params.comparison).ours
    shared = {"streams": streams, "levels": snakemake.params.levels}
    table = comparison_table(comparison, summary, **shared)
    for path in map(Path, snakemake.output.comparison):
        write_with_numbers(table, comparison, path)
    table = ablation_table(ablation, summary, ours=ours, **shared)
    for path in map(Path, snakemake.output.ablation):
        write_with_numbers(table, ablation, path)
    figure = draw_comparison(
        comparison,
        ablation,
        streams=stream_titles(summary, streams),
        levels=snakemake.params.levels,
        simulated=bool(summary["simulated"].any()),
    )
    save_figure(figure, snakemake.output.figure)

import pandas as pd

from dpol.core.logs import job_log
from dpol.data.settings import Stream
from dpol.show.style import save_figure
from dpol.show.titles import stream_titles
from dpol.studies.hospitals.cumulative_gain import draw_cumulative_gain
from dpol.studies.hospitals.settings import Report

with job_log(snakemake.log[0]):
    summary = pd.read_parquet(snakemake.input.summary)
    streams = {k: Stream.model_validate(v) for k, v in snakemake.params.streams.items()}
    figure = draw_cumulative_gain(
        pd.read_parquet(snakemake.input.cumulative),
        streams=stream_titles(summary, streams),
        levels=snakemake.params.levels,
        report=Report.model_validate(snakemake.params.report),
        central_noise=snakemake.params.central_noise,
        simulated=bool(summary["simulated"].any()),
    )
    save_figure(figure, snakemake.output)

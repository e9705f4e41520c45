from dpol.core.logs import job_log
from dpol.core.schemas import write_frame
from dpol.data.settings import Stream
from dpol.data.stream import read_stream
from dpol.studies.hospitals.findings import conclude, rank_meta
from dpol.studies.hospitals.runs import read_runs
from dpol.studies.hospitals.settings import Report
from dpol.studies.hospitals.summary import (
    collect_cells,
    count_comparisons,
    cumulative_curves,
    summarize,
)

with job_log(snakemake.log[0]):
    report = Report.model_validate(snakemake.params.report)
    levels = snakemake.params.levels
    streams = {stream.label: stream for stream in map(read_stream, snakemake.input.streams)}
    cells = collect_cells(map(read_runs, snakemake.input.runs))
    comparisons = count_comparisons(cells, report.algorithms, report.envelope)
    together = {"confidence": report.confidence, "comparisons": comparisons}
    summary = summarize(
        cells,
        streams,
        levels=levels,
        delta=snakemake.params.delta,
        **together,
    )
    settings = {k: Stream.model_validate(v) for k, v in snakemake.params.streams.items()}
    write_frame(conclude(summary, settings, report), snakemake.output.summary)
    write_frame(rank_meta(summary), snakemake.output.ranking)
    curves = cumulative_curves(cells, streams, levels=levels, **together)
    write_frame(curves, snakemake.output.cumulative)

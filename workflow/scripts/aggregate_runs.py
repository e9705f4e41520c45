from dpol.config import Report
from dpol.evaluation.runs import read_runs
from dpol.evaluation.summary import (
    collect_cells,
    count_comparisons,
    cumulative_curves,
    summarize,
    write_frame,
)
from dpol.logs import job_log
from dpol.streams import read_stream

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
    write_frame(summary, snakemake.output.summary)
    curves = cumulative_curves(cells, streams, levels=levels, **together)
    write_frame(curves, snakemake.output.cumulative)

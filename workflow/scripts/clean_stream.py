from pathlib import Path

from dpol.reruns.job import job_log

with job_log(snakemake.log[0], snakemake.input, snakemake.output, params=snakemake.params):
    from dpol.core.files import write_json
    from dpol.core.schemas import write_frame
    from dpol.data.cleaning import clean_stream, provenance_of_stream
    from dpol.data.panel import PANEL
    from dpol.data.question import Gain
    from dpol.data.settings import Dataset
    from dpol.data.stream import build_stream, write_stream
    from dpol.data.table import load_rows

    asked, label = snakemake.params, snakemake.wildcards.stream
    rows, dataset = load_rows(snakemake.input.rows), Dataset.model_validate(asked.dataset)
    gains = [Gain.model_validate(gain) for gain in asked.gains]
    panel, report = clean_stream(rows, label, asked.groups, dataset, gains, moved=asked.moved)
    write_frame(PANEL.check(panel, snakemake.output.panel), snakemake.output.panel)
    write_json(snakemake.output.report, report)
    for gain, path in zip(gains, snakemake.output.streams, strict=True):
        stream = build_stream(
            panel,
            label,
            asked.count_sensitivity,
            provenance_of_stream(report),
            stay=asked.stay,
            gain=gain,
            named=Path(path).name.removesuffix(".parquet"),
            counted=dataset.needed_columns.called("count"),
        )
        write_stream(stream, path)

from dpol.reruns.job import job_log

with job_log(snakemake.log[0], snakemake.input, snakemake.output, snakemake.params):
    from pathlib import Path

    from dpol.core.files import write_json, write_text
    from dpol.data.cleaning import clean_table
    from dpol.data.panel import pictured, report_as_markdown, write_panel
    from dpol.data.question import Gain
    from dpol.data.settings import Dataset, Stream
    from dpol.show.heat_map import heat_map
    from dpol.show.style import save_figure

    dataset = Dataset.model_validate(snakemake.params.dataset)
    streams = {
        label: Stream.model_validate(stream) for label, stream in snakemake.params.streams.items()
    }
    gains = [Gain.model_validate(gain) for gain in snakemake.params.gains]
    panel, report = clean_table(
        snakemake.input.table, dataset.read_as(""), streams, gains, snakemake.params.reported
    )
    write_panel(panel.table, snakemake.output.panel)
    write_json(snakemake.output.report, report)
    picture = heat_map(panel.table, *pictured(dataset.needed_columns))
    save_figure(picture, [Path(snakemake.output.picture)])
    write_text(snakemake.output.page, report_as_markdown(report))
    for reading, path in zip(dataset.readings, snakemake.output.readings, strict=True):
        panel, _ = clean_table(snakemake.input.table, dataset.read_as(reading), streams, gains)
        write_panel(panel.table, path)

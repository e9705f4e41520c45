from dpol.core.logs import job_log

with job_log(snakemake.log[0], snakemake.input, snakemake.output):
    from dpol.core.files import write_json, write_text
    from dpol.data.cleaning import clean_panel
    from dpol.data.panel import provenance_of, report_as_dict, report_as_markdown, write_panel
    from dpol.data.raw_table import read_capacities, read_counts
    from dpol.data.settings import Dataset, Stream

    dataset = Dataset.model_validate(snakemake.params.dataset)
    streams = {
        label: Stream.model_validate(stream) for label, stream in snakemake.params.streams.items()
    }
    raw = read_counts(snakemake.input.table, dataset)
    capacities = read_capacities(dataset.needed_columns)
    panel = clean_panel(raw, dataset, streams, capacities, snakemake.params.at_most)
    provenance = provenance_of(snakemake.input.table, simulated=dataset.simulated)
    for file in dataset.capacity_files:
        provenance["capacities"] = provenance_of(file, simulated=dataset.simulated)
    write_panel(panel.table, snakemake.output.panel)
    report = report_as_dict(panel, provenance)
    write_json(snakemake.output.report, report)
    write_text(snakemake.output.page, report_as_markdown(report))

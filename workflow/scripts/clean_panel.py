from dpol.core.files import write_json, write_text
from dpol.core.logs import job_log
from dpol.data.cleaning import clean_panel
from dpol.data.panel import provenance_of, report_as_dict, report_as_markdown, write_panel
from dpol.data.settings import Dataset, Stream
from dpol.data.table import read_table

with job_log(snakemake.log[0]):
    dataset = Dataset.model_validate(snakemake.params.dataset)
    streams = {
        label: Stream.model_validate(stream) for label, stream in snakemake.params.streams.items()
    }
    raw = read_table(snakemake.input.table, dataset.needed_columns.needed(), dataset.format)
    panel = clean_panel(raw, dataset, streams)
    provenance = provenance_of(snakemake.input.table, simulated=dataset.simulated)
    write_panel(panel.table, snakemake.output.panel)
    report = report_as_dict(panel, provenance)
    write_json(snakemake.output.report, report)
    write_text(snakemake.output.page, report_as_markdown(report))

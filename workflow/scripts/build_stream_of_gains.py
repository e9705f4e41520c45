from dpol.reruns.job import job_log

with job_log(snakemake.log[0], snakemake.input, snakemake.output, snakemake.params):
    from dpol.data.gains import read_gains
    from dpol.data.panel import provenance_of_table
    from dpol.data.settings import Dataset
    from dpol.data.stream import write_stream

    dataset = Dataset.model_validate(snakemake.params.dataset)
    source = dataset.source.model_copy(update={"file": snakemake.input.table})
    provenance = provenance_of_table(source.file, simulated=source.simulated)
    stream = read_gains(source, snakemake.wildcards.stream, provenance, dataset.format)
    write_stream(stream, snakemake.output.stream)

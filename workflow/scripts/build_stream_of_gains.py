from dpol.reruns.job import job_log

with job_log(snakemake.log[0], snakemake.input, snakemake.output, params=snakemake.params):
    from dpol.data.library import read_gains
    from dpol.data.settings import Dataset
    from dpol.data.stream import write_stream
    from dpol.data.table import provenance_of_table

    dataset = Dataset.model_validate(snakemake.params.dataset)
    source = dataset.source.model_copy(update={"file": snakemake.input.table})
    provenance = provenance_of_table(source.file, simulated=source.simulated)
    stream = read_gains(source, snakemake.wildcards.stream, provenance, dataset.read)
    write_stream(stream, snakemake.output.stream)

from dpol.reruns.job import job_log

with job_log(snakemake.log[0], snakemake.input, snakemake.output, params=snakemake.params):
    from dpol.data.settings import Dataset
    from dpol.data.table import read_rows, write_rows

    dataset = Dataset.model_validate(snakemake.params.dataset)
    write_rows(read_rows(snakemake.input.table, dataset), snakemake.output.rows)

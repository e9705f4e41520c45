from pathlib import Path

from dpol.reruns.job import job_log

with job_log(snakemake.log[0], outputs=snakemake.output, params=snakemake.params):
    from dpol.core.logs import LOGGER
    from dpol.data.fetch import fetch_table
    from dpol.data.query import Query
    from dpol.data.settings import Dataset

    dataset = Dataset.model_validate(snakemake.params.dataset)
    query = Query(dataset, snakemake.params.groups)
    fetch_table(dataset.source, query, Path(snakemake.output.file), LOGGER.info)

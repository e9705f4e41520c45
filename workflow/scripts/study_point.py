from pathlib import Path

from dpol.core.logs import job_log
from dpol.core.plugins import load
from dpol.studies.jobs import write_point
from dpol.studies.study import Inputs

with job_log(snakemake.log[0], snakemake.input, snakemake.output):
    write_point(
        load(snakemake.params.study),
        snakemake.params.settings,
        snakemake.params.point,
        Inputs(
            seed=snakemake.params.seed,
            delta=snakemake.params.delta,
            memory_mb=snakemake.resources.job_memory_mb,
            files={name: Path(path) for name, path in snakemake.input.items()},
        ),
        files=dict(snakemake.output.items()),
    )

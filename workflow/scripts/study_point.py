from pathlib import Path

from dpol.reruns.job import job_log

with job_log(snakemake.log[0], snakemake.input, snakemake.output, params=snakemake.params):
    from dpol.studies.jobs import write_points
    from dpol.studies.study import Inputs

    write_points(
        snakemake.params.study,
        snakemake.params.points,
        Inputs(
            seed=snakemake.params.seed,
            files={name: Path(path) for name, path in snakemake.input.items()},
        ),
        files=dict(snakemake.output.items()),
    )

from pathlib import Path

from dpol.reruns.job import job_log

with job_log(snakemake.log[0], snakemake.input, snakemake.output, params=snakemake.params):
    from dpol.studies.jobs import write_results
    from dpol.studies.showing import write_shown
    from dpol.studies.study import SomeFacts

    points, tables = dict(snakemake.input.items()), dict(snakemake.output.items())
    others, drawn = points.pop("shown"), tables.pop("drawn")
    if tables:
        write_results(
            snakemake.params.study,
            snakemake.params.settings,
            SomeFacts(snakemake.params.facts),
            inputs=points,
            files=tables,
        )
    for section in snakemake.params.sections:
        write_shown(
            snakemake.params.study,
            section,
            SomeFacts(snakemake.params.drawing),
            results={Path(it).stem: it for it in [*others, *tables.values()]},
            files=drawn,
        )

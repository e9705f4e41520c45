from dpol.core.logs import job_log
from dpol.studies.jobs import write_point
from dpol.studies.study import load_section

with job_log(snakemake.log[0]):
    write_point(
        load_section(snakemake.params.module, snakemake.params.study),
        snakemake.params.settings,
        snakemake.params.point,
        seed=snakemake.params.seed,
        delta=snakemake.params.delta,
        stream=snakemake.input.get("stream") or None,  # an empty list for a point without one
        tables={it: snakemake.input[it] for it in snakemake.params.point.get("tables", ())},
        files=dict(snakemake.output.items()),
    )

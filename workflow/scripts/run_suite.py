from dpol.core.logs import job_log
from dpol.data.stream import read_stream
from dpol.experts.registry import make_members
from dpol.studies.hospitals.runs import play_suite, write_runs

with job_log(snakemake.log[0]):
    members = [m for spec in snakemake.params.algorithms for m in make_members(spec)]
    block = play_suite(
        read_stream(snakemake.input.stream),
        members,
        noise=snakemake.wildcards.noise,
        mu=snakemake.params.mu,
        seed=snakemake.params.seed,
        replicates=snakemake.params.replicates,
        memory_mb=snakemake.resources.job_memory_mb,
        noise_memory=snakemake.params.noise_memory,
    )
    write_runs(block, snakemake.output.runs)

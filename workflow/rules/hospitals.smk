# The main experiment: runs, and the tables of their results.
rule run_suite:
    input:
        stream=STREAM,
    output:
        runs=f"{RESULTS}/runs/{RUN}.parquet",
    log:
        f"{RESULTS}/logs/run_suite/{RUN}.log",
    benchmark:
        f"{RESULTS}/benchmarks/run_suite/{RUN}.tsv"
    # Not among params: nothing runs again because memory was changed.
    resources:
        job_memory_mb=settings.job_memory_mb,
        # What a scheduler reserves: room for Snakemake around the script, more at each attempt.
        mem_mb=lambda wildcards, attempt: attempt * (settings.job_memory_mb + 500),
    params:
        algorithms=lambda wildcards: settings.suites[wildcards.suite].algorithms,
        mu=lambda wildcards: settings.privacy.levels[wildcards.level],
        replicates=lambda wildcards: list(experiment.replicates(int(wildcards.block))),
        seed=settings.seed,
        noise_memory=settings.privacy.memory,
        code=lambda wildcards: code_of_suite(wildcards.suite),
    message:
        "Playing {wildcards.suite} on {wildcards.stream}: {wildcards.noise} noise, {wildcards.level}, block {wildcards.block}"
    script:
        "../scripts/run_suite.py"


rule runs:
    input:
        run_files(),
    localrule: True


rule aggregate_runs:
    input:
        runs=run_files(),
        streams=expand(STREAM, stream=settings.streams),
    output:
        **result_tables(
            "summary",
            "ranking",
            "cumulative",
            *(["replay"] if settings.replayed else []),
            *(["comparison", "ablation"] if settings.comparison else []),
        ),
    log:
        f"{RESULTS}/logs/aggregate_runs.log",
    benchmark:
        f"{RESULTS}/benchmarks/aggregate_runs.tsv"
    params:
        code=code_of_script("aggregate_runs"),
        main=dump(MAIN.untitled),
        delta=settings.privacy.delta,
        seed=settings.seed,
        noise_memory=settings.privacy.memory,
    message:
        "Summing up all runs"
    script:
        "../scripts/aggregate_runs.py"

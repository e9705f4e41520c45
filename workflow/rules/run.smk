rule run_suite:
    input:
        stream=rules.build_stream.output.stream,
        code=code("play"),
    output:
        runs=f"{RESULTS}/runs/{RUN}.parquet",
    log:
        f"{RESULTS}/logs/run_suite/{RUN}.log",
    benchmark:
        f"{RESULTS}/benchmarks/run_suite/{RUN}.tsv"
    params:
        algorithms=lambda wildcards: settings.suites[wildcards.suite].algorithms,
        mu=lambda wildcards: settings.privacy.levels[wildcards.level],
        replicates=lambda wildcards: list(experiment.replicates(int(wildcards.block))),
        seed=settings.seed,
    message:
        "Playing {wildcards.suite} on {wildcards.stream}: {wildcards.calibration} noise, {wildcards.level}, block {wildcards.block}"
    script:
        "../scripts/run_suite.py"


rule runs:
    input:
        run_files(),

rule aggregate_runs:
    input:
        runs=run_files(),
        streams=expand(rules.build_stream.output.stream, stream=settings.streams),
    output:
        summary=f"{RESULTS}/summary.parquet",
        cumulative=f"{RESULTS}/cumulative.parquet",
    log:
        f"{RESULTS}/logs/aggregate_runs.log",
    benchmark:
        f"{RESULTS}/benchmarks/aggregate_runs.tsv"
    params:
        code=code_of_script("aggregate_runs"),
        levels=settings.privacy.levels,
        delta=settings.privacy.delta,
        report=dump(settings.report),
    message:
        "Summing up all runs"
    script:
        "../scripts/aggregate_runs.py"

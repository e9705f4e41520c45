# The main experiment: runs, their summary, and what is shown of it.
rule run_suite:
    input:
        stream=rules.build_stream.output.stream,
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
        code=lambda wildcards: code_of_suite(wildcards.suite),
    message:
        "Playing {wildcards.suite} on {wildcards.stream}: {wildcards.noise} noise, {wildcards.level}, block {wildcards.block}"
    script:
        "../scripts/run_suite.py"


rule runs:
    input:
        run_files(),


rule aggregate_runs:
    input:
        runs=run_files(),
        streams=expand(rules.build_stream.output.stream, stream=settings.streams),
    output:
        summary=f"{RESULTS}/summary.parquet",
        cumulative=f"{RESULTS}/cumulative.parquet",
        ranking=f"{RESULTS}/ranking.parquet",
    log:
        f"{RESULTS}/logs/aggregate_runs.log",
    benchmark:
        f"{RESULTS}/benchmarks/aggregate_runs.tsv"
    params:
        code=code_of_script("aggregate_runs"),
        streams=STREAMS,
        levels=settings.privacy.levels,
        delta=settings.privacy.delta,
        report=dump(settings.report),
    message:
        "Summing up all runs"
    script:
        "../scripts/aggregate_runs.py"


rule render_average_gain:
    input:
        summary=rules.aggregate_runs.output.summary,
    output:
        table("average-gain", "Paper", "Total gain"),
    log:
        f"{RESULTS}/logs/render_average_gain.log",
    benchmark:
        f"{RESULTS}/benchmarks/render_average_gain.tsv"
    params:
        code=code_of_script("render_average_gain"),
        streams=STREAMS,
        levels=settings.privacy.levels,
        report=dump(settings.report),
    message:
        "Rendering the table of average gains"
    script:
        "../scripts/render_average_gain.py"


rule render_cumulative_gain:
    input:
        summary=rules.aggregate_runs.output.summary,
        cumulative=rules.aggregate_runs.output.cumulative,
    output:
        figure("cumulative-gain", "Paper", "Gain over time"),
    log:
        f"{RESULTS}/logs/render_cumulative_gain.log",
    benchmark:
        f"{RESULTS}/benchmarks/render_cumulative_gain.tsv"
    params:
        code=code_of_script("render_cumulative_gain"),
        streams=STREAMS,
        levels=settings.privacy.levels,
        report=dump(settings.report),
    message:
        "Drawing the figure of cumulative gains"
    script:
        "../scripts/render_cumulative_gain.py"


if settings.comparison is not None:

    rule study_comparison:
        input:
            runs=run_files(),
        output:
            comparison=f"{RESULTS}/comparison.parquet",
            ablation=f"{RESULTS}/ablation.parquet",
        log:
            f"{RESULTS}/logs/study_comparison.log",
        benchmark:
            f"{RESULTS}/benchmarks/study_comparison.tsv"
        params:
            code=code_of_script("study_comparison"),
            comparison=dump(settings.comparison),
            levels=settings.privacy.levels,
            confidence=settings.report.confidence,
        message:
            "Comparing the paper's way with ours"
        script:
            "../scripts/study_comparison.py"

    rule render_comparison:
        input:
            summary=rules.aggregate_runs.output.summary,
            comparison=rules.study_comparison.output.comparison,
            ablation=rules.study_comparison.output.ablation,
        output:
            comparison=table(
                "comparison", "Beyond the paper", "The paper's way and ours", "compared"
            ),
            ablation=table("ablation", "Beyond the paper", "Losses in parts"),
            figure=figure("comparison", "Beyond the paper", "The paper's way and ours"),
        log:
            f"{RESULTS}/logs/render_comparison.log",
        benchmark:
            f"{RESULTS}/benchmarks/render_comparison.tsv"
        params:
            code=code_of_script("render_comparison"),
            streams=STREAMS,
            levels=settings.privacy.levels,
            report=dump(settings.report),
            comparison=dump(settings.comparison),
        message:
            "Rendering the comparison of the paper's way with ours"
        script:
            "../scripts/render_comparison.py"

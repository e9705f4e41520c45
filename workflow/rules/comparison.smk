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
        comparison=table("comparison", "Beyond the paper", "The paper's way and ours", "compared"),
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
        comparison=dump(settings.comparison),
    message:
        "Rendering the comparison of the paper's way with ours"
    script:
        "../scripts/render_comparison.py"

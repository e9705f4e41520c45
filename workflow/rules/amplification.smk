rule study_amplification:
    input:
        code=code("amplification"),
    output:
        curves=f"{RESULTS}/amplification.parquet",
        batching=f"{RESULTS}/batching.parquet",
    log:
        f"{RESULTS}/logs/study_amplification.log",
    benchmark:
        f"{RESULTS}/benchmarks/study_amplification.tsv"
    priority: LONGEST_FIRST
    params:
        study=model_dump(settings.batching),
        delta=settings.privacy.delta,
        seed=settings.seed,
        confidence=settings.report.confidence,
    message:
        "Studying the privacy that batching amplifies"
    script:
        "../scripts/study_amplification.py"


rule render_amplification:
    input:
        curves=rules.study_amplification.output.curves,
        code=code("plots"),
    output:
        figure("amplification", "Amplification", "Trade-off curves"),
    log:
        f"{RESULTS}/logs/render_amplification.log",
    benchmark:
        f"{RESULTS}/benchmarks/render_amplification.tsv"
    message:
        "Drawing the figure of amplification"
    script:
        "../scripts/render_amplification.py"


rule render_batching:
    input:
        curves=rules.study_amplification.output.curves,
        batching=rules.study_amplification.output.batching,
        code=code("tables"),
    output:
        table("amplification", "Amplification", "Amplified privacy", "amplified"),
        table("batching", "Amplification", "What batching costs"),
    log:
        f"{RESULTS}/logs/render_batching.log",
    benchmark:
        f"{RESULTS}/benchmarks/render_batching.tsv"
    message:
        "Rendering the tables of amplification and batching"
    script:
        "../scripts/render_batching.py"

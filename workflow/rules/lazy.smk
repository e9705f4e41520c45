rule study_lazy:
    input:
        code=code("lazy"),
    output:
        regrets=f"{RESULTS}/lazy.parquet",
    log:
        f"{RESULTS}/logs/study_lazy.log",
    benchmark:
        f"{RESULTS}/benchmarks/study_lazy.tsv"
    params:
        study=model_dump(settings.lazy),
        seed=settings.seed,
    message:
        "Studying the regret of lazy private algorithms"
    script:
        "../scripts/study_lazy.py"


rule render_lazy:
    input:
        regrets=rules.study_lazy.output.regrets,
        code=code("plots"),
    output:
        regret=multiext(f"{RESULTS}/figures/lazy-regret", ".svg", ".png", ".pdf"),
        rates=multiext(f"{RESULTS}/figures/lazy-rates", ".svg", ".png", ".pdf"),
    log:
        f"{RESULTS}/logs/render_lazy.log",
    benchmark:
        f"{RESULTS}/benchmarks/render_lazy.tsv"
    message:
        "Drawing the figures of lazy private algorithms"
    script:
        "../scripts/render_lazy.py"

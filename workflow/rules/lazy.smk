if settings.lazy is not None:

    rule study_lazy:
        input:
        output:
            regrets=f"{RESULTS}/lazy.parquet",
        log:
            f"{RESULTS}/logs/study_lazy.log",
        benchmark:
            f"{RESULTS}/benchmarks/study_lazy.tsv"
        priority: LONGEST_FIRST
        params:
            study=dump(settings.lazy),
            seed=settings.seed,
            confidence=settings.report.confidence,
        message:
            "Studying the regret of lazy private experts"
        script:
            "../scripts/study_lazy.py"


if settings.convex is not None:

    rule study_convex:
        input:
        output:
            regrets=f"{RESULTS}/convex.parquet",
        log:
            f"{RESULTS}/logs/study_convex.log",
        benchmark:
            f"{RESULTS}/benchmarks/study_convex.tsv"
        priority: LONGEST_FIRST
        params:
            study=dump(settings.convex),
            seed=settings.seed,
            confidence=settings.report.confidence,
        message:
            "Studying the regret of lazy private convex optimisation"
        script:
            "../scripts/study_convex.py"


rule render_lazy:
    input:
        regrets=f"{RESULTS}/{{study}}.parquet",
    output:
        figure=figure("{study}-regret", "Lazy algorithms", "Regret, {study}", "regret"),
        table=table("{study}-regret", "Lazy algorithms", "Regret, {study}", "regret"),
    log:
        f"{RESULTS}/logs/render_lazy/{{study}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/render_lazy/{{study}}.tsv"
    wildcard_constraints:
        study="lazy|convex",
    message:
        "Rendering the regrets of {wildcards.study}"
    script:
        "../scripts/render_lazy.py"


rule render_rates:
    input:
    output:
        figure("lazy-rates", "Lazy algorithms", "Rates that the paper states"),
    log:
        f"{RESULTS}/logs/render_rates.log",
    benchmark:
        f"{RESULTS}/benchmarks/render_rates.tsv"
    message:
        "Drawing the rates that the paper states"
    script:
        "../scripts/render_rates.py"

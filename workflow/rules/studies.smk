# The studies of the config: a job for each point, then their tables, then what is shown of them.
for study, block in settings.studies():
    POINTS = study.points(block, list(settings.streams))
    results = {name: f"{RESULTS}/{name}.parquet" for name in study.results}
    parts = {name: f"{RESULTS}/points/{study.name}/{{point}}/{name}.parquet" for name in results}

    rule:
        name:
            f"{study.name}_point"
        input:
            **stream_of(POINTS),
        output:
            **parts,
        log:
            f"{RESULTS}/logs/{study.name}_point/{{point}}.log",
        benchmark:
            f"{RESULTS}/benchmarks/{study.name}_point/{{point}}.tsv"
        priority: LONGEST_FIRST
        params:
            study=study.name,
            settings=dump(block),
            point=point_of(POINTS),
            seed=settings.seed,
            delta=settings.privacy.delta,
            code=code_of(study.run),
        message:
            f"{study.title}: {{wildcards.point}}"
        script:
            "../scripts/study_point.py"

    rule:
        name:
            f"{study.name}_results"
        input:
            **{name: expand(path, point=POINTS) for name, path in parts.items()},
        output:
            **results,
        log:
            f"{RESULTS}/logs/{study.name}_results.log",
        benchmark:
            f"{RESULTS}/benchmarks/{study.name}_results.tsv"
        params:
            study=study.name,
            settings=dump(block),
            facts=FACTS,
            code=code_of(study.collect, "dpol.core.schemas"),
        message:
            f"{study.title}: collecting the results"
        script:
            "../scripts/study_results.py"

    rule:
        name:
            f"{study.name}_shown"
        input:
            **results,
        output:
            shown_of(study, block),
        log:
            f"{RESULTS}/logs/{study.name}_shown.log",
        benchmark:
            f"{RESULTS}/benchmarks/{study.name}_shown.tsv"
        params:
            study=study.name,
            settings=dump(block),
            facts=FACTS,
            about=study.about,
            code=code_of_shown(study, block),
        message:
            f"{study.title}: drawing the figures, rendering the tables"
        script:
            "../scripts/study_shown.py"

# The studies of the config: a job for each point, then their tables.
for study, block in settings.studies():
    POINTS = study.points(block, list(settings.streams))
    folder = f"{RESULTS}/points/{study.name}/{{point}}"
    parts = {name: f"{folder}/{name}.parquet" for name in study.results}

    rule:
        name:
            f"{study.name}_point"
        input:
            **stream_of(POINTS),
            **tables_of(POINTS),
        output:
            **parts,
        log:
            f"{RESULTS}/logs/{study.name}_point/{{point}}.log",
        benchmark:
            f"{RESULTS}/benchmarks/{study.name}_point/{{point}}.tsv"
        priority: LONGEST_FIRST
        params:
            module=study.module,
            study=study.name,
            settings=dump(block),
            point=point_of(POINTS),
            seed=settings.seed,
            delta=settings.privacy.delta,
            code=code_of_points(study, block),
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
            **result_tables(*study.results),
        log:
            f"{RESULTS}/logs/{study.name}_results.log",
        benchmark:
            f"{RESULTS}/benchmarks/{study.name}_results.tsv"
        params:
            module=study.module,
            study=study.name,
            settings=dump(block),
            facts=UNTITLED_FACTS,
            code=code_of_results(study),
        message:
            f"{study.title}: collecting the results"
        script:
            "../scripts/study_results.py"


# What is shown: sections of the main experiment, and of the studies.
for section, block in SECTIONS:

    rule:
        name:
            shown_rule(section)
        input:
            **result_tables(*section.results),
        output:
            shown_of(section, block),
        log:
            f"{RESULTS}/logs/{shown_rule(section)}.log",
        benchmark:
            f"{RESULTS}/benchmarks/{shown_rule(section)}.tsv"
        params:
            module=section.module,
            section=section.name,
            settings=dump(block),
            facts=facts_of(section, block),
            about=section.about,
            code=code_of_shown(section, block),
        message:
            f"{section.title}: drawing the figures, rendering the tables"
        script:
            "../scripts/section_shown.py"

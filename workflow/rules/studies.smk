# Each study of the config: a job for each of its points, one that makes its result tables, and one
# for each section that shows them.
for study, block in STUDIES:

    rule:
        name:
            f"{study.name}_point"
        input:
            unpack(partial(inputs_of_point, study)),
        output:
            **below_results(study.files_of_points()),
        log:
            local(f"{RESULTS}/logs/{study.name}_point/{{point}}.log"),
        benchmark:
            local(f"{RESULTS}/benchmarks/{study.name}_point/{{point}}.tsv")
        priority: priority_of(study)
        # Not among params: nothing runs again because memory was changed.
        resources:
            job_memory_mb=settings.job_memory_mb,
            # What a scheduler reserves: room for Snakemake around the script, more at each attempt.
            mem_mb=reserved_memory,
        params:
            study=f"{study.module}:STUDY",
            # Whole points depend on neither.
            settings=None if study.whole_points else dump(block),
            delta=None if study.whole_points else settings.privacy.delta,
            point=partial(point_of, study),
            seed=settings.seed,
            code=partial(code_of_point, study),
        message:
            f"{study.title}: {{wildcards.point}}"
        script:
            "../scripts/study_point.py"

    rule:
        name:
            f"{study.name}_results"
        input:
            **files_of_all_points(study),
            **below_results(study.reads(list(settings.played))),
        output:
            **below_results(result_tables(study.results_of(block, FACTS))),
        log:
            local(f"{RESULTS}/logs/{study.name}_results.log"),
        benchmark:
            local(f"{RESULTS}/benchmarks/{study.name}_results.tsv")
        params:
            study=f"{study.module}:STUDY",
            settings=dump(block),
            facts=facts_of(study, UNTITLED_FACTS),
            code=code_of_results(study),
        message:
            f"{study.title}: making the result tables"
        script:
            "../scripts/study_results.py"

    for section in made_sections(study, block):

        rule:
            name:
                shown_rule(section)
            input:
                **below_results(result_tables(section.results)),
            output:
                shown_of(section),
            log:
                local(f"{RESULTS}/logs/{shown_rule(section)}.log"),
            benchmark:
                local(f"{RESULTS}/benchmarks/{shown_rule(section)}.tsv")
            params:
                study=f"{study.module}:STUDY",
                section=section.name,
                settings=dump(block),
                facts=facts_of(study, FACTS),
                about=section.about,
                code=code_of_shown(study, section),
            message:
                f"{section.title}: drawing the figures, rendering the tables"
            script:
                "../scripts/study_shown.py"


rule runs:
    input:
        rules.games_results.input.runs,
    localrule: True
    message:
        f"Done: {RESULTS}/runs"

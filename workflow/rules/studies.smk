# For each study of the config: a job per group of points, a job for its result tables, and a job for
# each section that shows them.
for study, block in plan.studies:

    rule:
        """Compute some points of the study."""
        name:
            f"{study.name}_point"
        input:
            asked(f"{study.name}_point"),
            unpack(lambda wildcards, study=study: plan.inputs_of_job(study, wildcards.point)),
        output:
            **plan.outputs_of_job(study, block),
        log:
            local(f"{RESULTS}/logs/{study.name}_point/{{point}}.log"),
        benchmark:
            local(f"{RESULTS}/benchmarks/{study.name}_point/{{point}}.tsv")
        priority: 0 if plan.waits(study) else LONGEST_FIRST
        conda:
            "../envs/dpol.yaml"
        # Not among params: a change of memory must not rerun jobs.
        resources:
            job_memory_mb=settings.job_memory_mb,
            # Memory to reserve: 500 MB for Snakemake around the script, and more at each attempt.
            mem_mb=lambda wildcards, attempt: attempt * (settings.job_memory_mb + 500),
        params:
            **watched(plan.code_of_jobs(study)),
            study=study.package,
            # Of a point, only its settings and inputs affect results.
            points=lambda wildcards, study=study: [
                point.settings for point in plan.jobs[study.name][wildcards.point]
            ],
            seed=settings.seed,
        message:
            f"{study.title}: {{wildcards.point}}"
        script:
            "../scripts/study_point.py"

    rule:
        """Make the result tables of the study."""
        name:
            f"{study.name}_results"
        input:
            asked(f"{study.name}_results"),
            **plan.inputs_of_results(study, block),
        output:
            **plan.results(study, block),
        log:
            local(f"{RESULTS}/logs/{study.name}_results.log"),
        benchmark:
            local(f"{RESULTS}/benchmarks/{study.name}_results.tsv")
        conda:
            "../envs/dpol.yaml"
        resources:
            mem_mb=lambda wildcards, input, attempt: attempt * round(1000 + 10 * input.size_mb),
        params:
            **watched({"": plan.code_of_results(study)}),
            study=study.package,
            settings=block.model_dump(mode="json"),
            facts=plan.facts_of_results(study),
            points=list(plan.jobs[study.name]),
        message:
            f"{study.title}: making the result tables"
        script:
            "../scripts/study_results.py"

    for section in plan.sections(study, block):

        rule:
            """Draw the figures and render the tables of the section."""
            name:
                rule_of_section(section)
            input:
                asked(rule_of_section(section)),
                **plan.tables(section.results),
            output:
                # `snakemake --report` shows the first file of each figure and table.
                [report(it, **about) if about else it for it, about in plan.shown(study, section)],
            log:
                local(f"{RESULTS}/logs/{rule_of_section(section)}.log"),
            benchmark:
                local(f"{RESULTS}/benchmarks/{rule_of_section(section)}.tsv")
            conda:
                "../envs/dpol.yaml"
            params:
                **watched({"": plan.code_of_shown(study)}),
                study=study.package,
                section=section.name,
                settings=block.model_dump(mode="json"),
                facts=plan.facts_of_shown(study),
                about=section.about,
            message:
                f"{section.title or study.title}: drawing the figures, rendering the tables"
            script:
                "../scripts/study_shown.py"


rule games:
    """Target: the scores of all games."""
    input:
        rules.games_results.input.scores,
    localrule: True
    message:
        f"Done: {RESULTS}/points/games"

# For each study of the config: a job per group of points, and a job for its result tables. For each
# chapter of the page: a job that draws its sections.
facts = settings.plan_facts
# Figures of every study may show the results that every run has.
IN_EVERY_RUN = [study.showing for study, _ in plan.studies if study.name in EVERY_RUN]
# What points write, and result tables with their figures and tables.
PLAYED, SHOWN = [], []
# Sections by chapter, each with its study.
CHAPTERS = {}

for study, block in plan.studies:
    points, jobs = plan.points[study.name].values(), plan.jobs[study.name]
    written = {
        name: f"{RESULTS}/points/{study.name}/{{point}}/{name}.parquet"
        for name in study.written_by_points(block, facts)
    }
    tables = {name: f"{RESULTS}/{name}.parquet" for name in study.results_of(block, facts)}

    rule:
        """Compute some points of the study."""
        name:
            f"{study.name}_point"
        input:
            asked(f"{study.name}_point", point=jobs),
            # All points of a job read the same files.
            unpack(
                lambda wildcards, jobs=jobs: {
                    name: f"{RESULTS}/{path}"
                    for name, path in jobs[wildcards.point][0].inputs.items()
                }
            ),
        output:
            **written,
        log:
            local(f"{RESULTS}/logs/{study.name}_point/{{point}}.log"),
        benchmark:
            local(f"{RESULTS}/benchmarks/{study.name}_point/{{point}}.tsv")
        # Points that wait for files come later.
        priority: 0 if all(point.inputs for point in points) else LONGEST_FIRST
        conda:
            "../envs/dpol.yaml"
        # Not among params: a change of memory must not rerun jobs.
        resources:
            job_memory_mb=settings.job_memory_mb,
            # Memory to reserve: 500 MB for Snakemake around the script, and more at each attempt.
            mem_mb=lambda wildcards, attempt: attempt * (settings.job_memory_mb + 500),
        params:
            code=lambda wildcards, study=study, jobs=jobs: code_of_job(
                "study_point", study.computing, *code_of(jobs[wildcards.point])
            ),
            study=study.package,
            # Of a point, only its settings and inputs affect results.
            points=lambda wildcards, jobs=jobs: [it.plain for it in jobs[wildcards.point]],
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
            **{name: expand(path, point=jobs) for name, path in written.items()},
            **{
                name: expand(f"{RESULTS}/{{path}}", path=paths)
                for name, paths in inputs_of(points).items()
            },
        output:
            **tables,
        log:
            local(f"{RESULTS}/logs/{study.name}_results.log"),
        benchmark:
            local(f"{RESULTS}/benchmarks/{study.name}_results.tsv")
        conda:
            "../envs/dpol.yaml"
        resources:
            mem_mb=lambda wildcards, input, attempt: attempt * round(1000 + 10 * input.size_mb),
        params:
            code=code_of_job("study_results", study.module, study.collecting, *code_of(points)),
            study=study.package,
            settings=block.model_dump(mode="json"),
            facts=vars(settings.facts),
            points=list(jobs),
        message:
            f"{study.title}: making the result tables"
        script:
            "../scripts/study_results.py"

    PLAYED += expand(list(written.values()), point=jobs)
    SHOWN += tables.values()
    # An interactive figure has no file.
    for section in [it for it in study.sections_of(block, facts) if it.made]:
        CHAPTERS.setdefault(section.chapter, []).append((study, section))


for chapter, parts in CHAPTERS.items():
    shown = f"{chapter}_shown"
    figures = {it.name: part.title or study.title for study, part in parts for it in part.figures}
    rendered = {it.name: part.title or study.title for study, part in parts for it in part.tables}
    drawing = [it for study, part in parts for it in (study.showing, part.drawing)]

    rule:
        """Draw the figures and render the tables of the chapter."""
        name:
            shown
        input:
            asked(shown),
            **{name: f"{RESULTS}/{name}.parquet" for _, part in parts for name in part.results},
        output:
            # `snakemake --report` shows the first file of each figure and table.
            [
                report(f"{RESULTS}/figures/{name}.svg", **about("figure", name, title))
                for name, title in figures.items()
            ],
            expand(f"{RESULTS}/figures/{{name}}.{{kind}}", name=figures, kind=["png", "pdf"]),
            [
                report(f"{RESULTS}/tables/{name}.html", **about("table", name, title))
                for name, title in rendered.items()
            ],
            expand(
                f"{RESULTS}/tables/{{name}}.{{kind}}",
                name=rendered,
                kind=["fragment.html", "md", "tex", "csv"],
            ),
        log:
            local(f"{RESULTS}/logs/{shown}.log"),
        benchmark:
            local(f"{RESULTS}/benchmarks/{shown}.tsv")
        conda:
            "../envs/dpol.yaml"
        params:
            code=code_of_job("study_shown", *drawing, *IN_EVERY_RUN),
            facts=vars(settings.facts) | {"form": (settings.report.width, settings.report.titles)},
            sections={
                part.name: {"study": study.package, "about": part.about} for study, part in parts
            },
        message:
            f"Drawing figures, rendering tables: {', '.join([*figures, *rendered])}"
        script:
            "../scripts/study_shown.py"

    SHOWN += getattr(rules, shown).output


rule games:
    """Target: the scores of all games."""
    input:
        rules.games_results.input.scores,
    localrule: True
    message:
        f"Done: {RESULTS}/points/games"

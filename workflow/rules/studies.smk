# For each study of the config: a job for each place in its grid, one for its result tables, and one
# that draws its figures and renders its tables.
FACTS = {**vars(settings.facts), "form": (settings.report.width, settings.report.titles, {})}
facts = settings.facts
# Figures of every study may show the results that every run has.
IN_EVERY_RUN = [study.showing for study, _ in plan.studies if study.name in EVERY_RUN]
# What the jobs of a grid write, and result tables with their figures and tables.
PLAYED, SHOWN = [], []

# The grid of the games: results/RUN/games/STREAM/LEVEL/SUITE/BLOCK/scores.parquet.
GRID = ["stream", "level", "suite", "block"]
GAMES_PLAYED = plan.jobs["games"]
ROUNDS = {"rounds": f"{RESULTS}/games/{{stream}}/{{level}}/{{suite}}/{{block}}/rounds.parquet"}
if not settings.keep_rounds:
    ROUNDS = {}
game_at = lambda wildcards: GAMES_PLAYED["/".join(getattr(wildcards, name) for name in GRID)]


rule games_point:
    """Play a suite on a stream at a level: all its noises and algorithms, a block of replicates."""
    input:
        stream=STREAM,
    output:
        **ROUNDS,
        scores=f"{RESULTS}/games/{{stream}}/{{level}}/{{suite}}/{{block}}/scores.parquet",
        curves=f"{RESULTS}/games/{{stream}}/{{level}}/{{suite}}/{{block}}/curves.parquet",
    log:
        local(f"{RESULTS}/logs/games/{{stream}}/{{level}}/{{suite}}/{{block}}.log"),
    priority: GAMES_FIRST
    conda:
        "../envs/dpol.yaml"
    params:
        code=lambda wildcards: code_of_job(
            "study_point", "dpol.studies.games.compute", *code_of([game_at(wildcards)])
        ),
        sources=sources("games_point", [dict(zip(GRID, it.split("/"))) for it in GAMES_PLAYED]),
        study="dpol.studies.games",
        points=lambda wildcards: game_at(wildcards).plain,
        seed=settings.seed,
    message:
        "Games: {wildcards.stream}, {wildcards.level}, {wildcards.suite}, {wildcards.block}"
    script:
        "../scripts/study_point.py"


for study, block in plan.studies:
    jobs = plan.jobs[study.name]
    written = {
        name: f"{RESULTS}/{study.name}/{{place}}/{name}.parquet"
        for name in study.written_by_jobs(block, facts)
    }
    tables = {name: f"{RESULTS}/{name}.parquet" for name in study.results_of(block, facts)}
    # After the games, the study with the longest jobs comes first.
    longest = max(job.seconds for job in jobs.values())
    first = GAMES_FIRST if study.name in EVERY_RUN else longest / (1 + longest)

    if study.name != "games":

        rule:
            """Compute a place in the grid of the study."""
            name:
                f"{study.name}_point"
            input:
                unpack(
                    lambda wildcards, jobs=jobs: {
                        name: f"{RESULTS}/{path}"
                        for name, path in jobs[wildcards.place].inputs.items()
                    }
                ),
            output:
                **written,
            log:
                local(f"{RESULTS}/logs/{study.name}/{{place}}.log"),
            priority: first
            conda:
                "../envs/dpol.yaml"
            params:
                code=lambda wildcards, study=study, jobs=jobs: code_of_job(
                    "study_point", study.computing, *code_of([jobs[wildcards.place]])
                ),
                sources=sources(f"{study.name}_point", [{"place": it} for it in jobs]),
                study=study.package,
                points=lambda wildcards, jobs=jobs: jobs[wildcards.place].plain,
                seed=settings.seed,
            message:
                f"{study.title}: {{wildcards.place}}"
            script:
                "../scripts/study_point.py"

    rule:
        """Make the result tables of the study."""
        name:
            f"{study.name}_results"
        input:
            **{name: expand(path, place=jobs) for name, path in written.items()},
            **{
                name: expand(f"{RESULTS}/{{path}}", path=paths)
                for name, paths in inputs_of(jobs.values()).items()
            },
        output:
            **tables,
        log:
            local(f"{RESULTS}/logs/{study.name}_results.log"),
        priority: first
        conda:
            "../envs/dpol.yaml"
        resources:
            mem_mb=lambda wildcards, input, attempt: attempt * round(1000 + 10 * input.size_mb),
        params:
            code=code_of_job("study_results", study.module, study.collecting),
            sources=sources(f"{study.name}_results"),
            study=study.package,
            settings=block.model_dump(mode="json"),
            facts=settings.facts.told(study.collects, titled=False),
            places=list(jobs),
        message:
            f"{study.title}: making the result tables"
        script:
            "../scripts/study_results.py"

    PLAYED += expand(list(written.values()), place=jobs)
    SHOWN += tables.values()
    # An interactive figure has no file.
    sections = [it for it in study.sections_of(block, facts) if it.made]
    if not sections:
        continue
    figures = {it.name: part.title or study.title for part in sections for it in part.figures}
    rendered = {it.name: part.title or study.title for part in sections for it in part.tables}
    drawn = [
        *expand(
            f"{RESULTS}/figures/{{name}}.{{kind}}", name=figures, kind=["svg", "png", "pdf"]
        ),
        *expand(
            f"{RESULTS}/figures/{{name}}-narrow.svg",
            name=[it.name for part in sections for it in part.figures if it.narrow],
        ),
        *expand(
            f"{RESULTS}/tables/{{name}}.{{kind}}",
            name=rendered,
            kind=["html", "md", "tex", "csv"],
        ),
    ]
    # `snakemake --report` shows the first file of each figure and table.
    reported = {
        **{f"{RESULTS}/figures/{it}.svg": about("figure", it, figures[it]) for it in figures},
        **{f"{RESULTS}/tables/{it}.html": about("table", it, rendered[it]) for it in rendered},
    }

    rule:
        """Draw the figures of the study, and render its tables."""
        name:
            f"{study.name}_shown"
        input:
            **{name: f"{RESULTS}/{name}.parquet" for part in sections for name in part.results},
        output:
            [report(it, **reported[it]) if it in reported else it for it in drawn],
        log:
            local(f"{RESULTS}/logs/{study.name}_shown.log"),
        priority: first
        conda:
            "../envs/dpol.yaml"
        params:
            code=code_of_job(
                "study_shown",
                study.showing,
                *(module for part in sections for module in part.drawing),
                *IN_EVERY_RUN,
            ),
            sources=sources(f"{study.name}_shown"),
            facts={name: FACTS[name] for name in study.draws},
            study=study.package,
            sections={part.name: part.about for part in sections},
        message:
            f"{study.title}: drawing {', '.join([*figures, *rendered])}"
        script:
            "../scripts/study_shown.py"

    SHOWN += drawn


rule games:
    """Target: the scores of all games."""
    input:
        [f"{RESULTS}/games/{it}/scores.parquet" for it in GAMES_PLAYED],
    localrule: True
    message:
        f"Done: {RESULTS}/games"

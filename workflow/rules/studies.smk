# For each study of the config: a job for each place in its grid, and one that makes its result
# tables, draws its figures and renders its tables.
FACTS = {**vars(settings.facts), "form": (settings.report.width, settings.report.titles)}
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
        log_of("games_point", "games/{stream}/{level}/{suite}/{block}"),
    priority: GAMES_FIRST
    conda:
        "../envs/dpol.yaml"
    params:
        **notes("games_point", [dict(zip(GRID, it.split("/"))) for it in GAMES_PLAYED]),
        code=lambda wildcards: code_of_job(
            "study_point", "dpol.studies.games.compute", *code_of([game_at(wildcards)])
        ),
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
    points = {name: expand(path, place=jobs) for name, path in written.items()}
    points |= {
        name: expand(f"{RESULTS}/{{path}}", path=paths)
        for name, paths in inputs_of(jobs.values()).items()
    }
    PLAYED += expand(list(written.values()), place=jobs)
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
                log_of(f"{study.name}_point", f"{study.name}/{{place}}"),
            priority: first
            conda:
                "../envs/dpol.yaml"
            params:
                **notes(f"{study.name}_point", [{"place": it} for it in jobs]),
                code=lambda wildcards, study=study, jobs=jobs: code_of_job(
                    "study_point", study.computing, *code_of([jobs[wildcards.place]])
                ),
                study=study.package,
                points=lambda wildcards, jobs=jobs: jobs[wildcards.place].plain,
                seed=settings.seed,
            message:
                f"{study.title}: {{wildcards.place}}"
            script:
                "../scripts/study_point.py"

    # An interactive figure has no file.
    sections = [it for it in study.sections_of(block, facts) if it.made]
    # Jobs of other studies read the tables of the games, so that another job draws those.
    steps = {f"{study.name}_results": (tables, sections)}
    if study.name == "games" and sections:
        steps = {"games_results": (tables, []), "games_shown": ({}, sections)}
    for step, (makes, shows) in steps.items():
        scripted = "study_shown" if shows else "study_results"
        figures = {it.name: part.title or study.title for part in shows for it in part.figures}
        rendered = {it.name: part.title or study.title for part in shows for it in part.tables}
        # `snakemake --report` shows the first file of each figure and table.
        reported = {
            **{
                f"{RESULTS}/figures/{it}.svg": about("figure", it, figures[it])
                for it in figures
            },
            **{
                f"{RESULTS}/tables/{it}.html": about("table", it, rendered[it])
                for it in rendered
            },
        }
        files = [
            *expand(
                f"{RESULTS}/figures/{{name}}.{{of}}", name=figures, of=["svg", "png", "pdf"]
            ),
            *expand(
                f"{RESULTS}/tables/{{name}}.{{of}}",
                name=rendered,
                of=["html", "md", "tex", "csv"],
            ),
        ]
        drawn = [report(it, **reported[it]) if it in reported else it for it in files]
        others = {it for part in shows for it in part.results} - {*makes}

        rule:
            """Make the result tables of the study, draw its figures, and render its tables."""
            name:
                step
            input:
                **(points if makes else {}),
                **({"shown": [f"{RESULTS}/{it}.parquet" for it in sorted(others)]} if shows else {}),
            output:
                **makes,
                **({"drawn": drawn} if shows else {}),
            log:
                log_of(step),
            priority: first
            conda:
                "../envs/dpol.yaml"
            resources:
                mem_mb=lambda wildcards, input, attempt: attempt * round(1000 + 10 * input.size_mb),
            params:
                **notes(step),
                # This path is read when a job runs.
                script=scripted,
                code=code_of_job(
                    scripted,
                    *([study.module, study.collecting] if makes else []),
                    *([study.showing, *IN_EVERY_RUN] if shows else []),
                    *(module for part in shows for module in part.drawing),
                ),
                study=study.package,
                settings=block.model_dump(mode="json") if makes else {},
                facts=settings.facts.told(study.collects, titled=False) if makes else {},
                places=list(jobs) if makes else [],
                drawing={name: FACTS[name] for name in study.draws} if shows else {},
                sections={part.name: part.about for part in shows},
            message:
                f"{study.title}: making {', '.join([*makes, *figures, *rendered])}"
            script:
                "../scripts/{params.script}.py"

        SHOWN += [*makes.values(), *files]


rule games:
    """Target: the scores of all games."""
    input:
        [f"{RESULTS}/games/{it}/scores.parquet" for it in GAMES_PLAYED],
    localrule: True
    message:
        f"Done: {RESULTS}/games"

import os
import re
import time
from pathlib import Path

import yaml

from dpol.core.errors import DpolError
from dpol.config.experiment import check_local_table, parse_experiment
from dpol.core.files import check_writable
from dpol.core.imports import code_hash
from dpol.experts.registry import code_that_plays
from dpol.core.logs import errors_since
from dpol.core.yaml_files import read_yaml
from dpol.core.words import HOLDS_RAW_COUNTS
from dpol.studies.hospitals.sections import sections_of
from dpol.studies.registry import PACKAGES, load_studies
from dpol.studies.study import code_of_points, code_of_results, code_of_shown

# One thread a job: Snakemake runs jobs side by side, and numbers stay the same on any machine.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

if found := re.search(r"[^\w@%+=:,./-]", sys.executable):
    # Snakemake starts scripts by this path without quotes.
    sys.exit(
        f"error: the path of Python holds {found[0]!r}: {sys.executable}; move the checkout, or its"
        " environment, to a path of letters, digits and ._-/"
    )

# Where the config came from. The config files of an importing workflow are none of ours.
CONFIG_FILES = [] if MODULE else [Path(file) for file in workflow.configfiles]
CONFIG_PLACE = f"config of module {MODULE}" if MODULE else " + ".join(map(str, CONFIG_FILES))

try:
    for file in CONFIG_FILES:
        read_yaml(file)
    experiment = parse_experiment(config, CONFIG_PLACE)
    if not MODULE:  # a rule of the importing workflow may make the table
        check_local_table(experiment.config)
    check_writable(f"results/{experiment.config.run}")
except DpolError as error:
    sys.exit(f"error: {error}")

settings = experiment.config
STARTED = time.time()
RESULTS = f"results/{settings.run}"

for known in workflow.rules:
    other = known.module_globals.get("MODULE")
    if other != MODULE and known.module_globals.get("RESULTS") == RESULTS:
        sys.exit(
            f"error: {CONFIG_PLACE}: run = {settings.run}: module {other} has a run of this name,"
            f" and writes to {RESULTS} too; give each module its own run"
        )

RUN = "{stream}/{suite}/{noise}/{level}/block-{block}"
# Plain, for `expand`: an output of a rule has flags where a storage provider holds it.
STREAM = f"{RESULTS}/streams/{{stream}}.parquet"

# Priority of the longest jobs, which need no run: begun last, they would run alone at the end.
LONGEST_FIRST = 1
# Priority of what most often fails, for want of a network or by a mistake in a table: reported at once.
DATA_FIRST = 2


wildcard_constraints:
    stream="[^/]+",
    suite="[^/]+",
    noise="[^/]+",
    level="[^/]+",
    block=r"\d+",
    point="[^/]+",


def dump(part):
    """A part of the config as plain values, fit for params."""
    return part.model_dump(mode="json")


FACTS = {
    "streams": {label: stream.title or label for label, stream in settings.streams.items()},
    "simulated": settings.dataset.simulated,
    "confidence": settings.report.confidence,
}
# No number depends on a title.
UNTITLED_FACTS = {**FACTS, "streams": {label: label for label in settings.streams}}
MAIN = experiment.main()
# What is shown, each with its settings.
MAIN_SECTIONS = sections_of(settings.report, settings.comparison, replayed=settings.replayed)
SECTIONS = [*((it, MAIN) for it in MAIN_SECTIONS), *settings.studies()]


def facts_of(section, block):
    """The facts for what a section shows: the titles of the streams that it is about."""
    if section in MAIN_SECTIONS:
        return FACTS
    points = section.points(block, list(settings.streams)).values()
    named = {point.get("stream") for point in points}
    titles = {label: title for label, title in FACTS["streams"].items() if label in named}
    return {**UNTITLED_FACTS, "streams": UNTITLED_FACTS["streams"] | titles}


def code_of_script(name, *modules):
    """A hash of the code behind a script: when it changes, its jobs run again."""
    return code_hash(Path(workflow.source_path(f"../scripts/{name}.py")), *modules)


def code_of_suite(suite):
    """A hash of the code that plays a suite, and of its algorithms with all their parameters."""
    return code_that_plays(["dpol.studies.hospitals.runs"], settings.suites[suite].algorithms)


def codes_that_played():
    """The hashes of the code of all suites and studies, by the name of what they play."""
    suites = {f"suite {name}": code_of_suite(name) for name in settings.suites}
    studies = {
        f"study {study.name}": code_of_points(study, block) for study, block in settings.studies()
    }
    return suites | studies


def result_tables(*names):
    """The files of result tables, by name."""
    return {name: f"{RESULTS}/{name}.parquet" for name in names}


FIGURE_FORMATS = ("svg", "png", "pdf")
# The page of the report is made of fragments.
TABLE_FORMATS = ("html", "fragment.html", "md", "csv", "tex")


def shown_of(section, block):
    """The files of all figures and tables of a section; `snakemake --report` shows one of each."""
    kinds = [("figure", it, FIGURE_FORMATS) for it in section.figures(block)]
    kinds += [("table", it, TABLE_FORMATS) for it in section.tables]
    paths = []
    for kind, it, formats in kinds:
        first, *others = (f"{RESULTS}/{kind}s/{it.name}.{suffix}" for suffix in formats)
        labels = {"what": it.title, "kind": kind}
        shown = {"caption": "../report/section.rst", "category": section.title, "labels": labels}
        paths += [report(first, **shown), *others]
    return paths


def shown_rule(section):
    """The rule that shows a section."""
    return f"{section.name.replace('-', '_')}_shown"


def stream_of(points):
    """What gives the gain stream that a point names, if any of these does."""

    def stream(wildcards):
        label = points[wildcards.point].get("stream")
        return [] if label is None else STREAM.format(stream=label)

    return {"stream": stream} if any("stream" in point for point in points.values()) else {}


def tables_of(points):
    """What gives the result tables of the main experiment that a point names."""
    names = {name for point in points.values() for name in point.get("tables", ())}

    def table(name):
        def path(wildcards):
            own = points[wildcards.point].get("tables", ())
            return f"{RESULTS}/{name}.parquet" if name in own else []

        return path

    return {name: table(name) for name in sorted(names)}


def point_of(points):
    """What gives the plain values of a point."""
    return lambda wildcards: dict(points[wildcards.point])


def wanted_groups():
    """The groups of all streams."""
    return sorted({group for stream in settings.streams.values() for group in stream.groups})


def table_query():
    """What is asked of a web source."""
    from dpol.data.query import query_for

    return query_for(settings.dataset, wanted_groups())


def table_must_be_fetched():
    """Whether the raw table of a web source is missing, or was fetched for another query.

    If a rule of the importing workflow makes it, or of another import, it is not fetched again.
    """
    from dpol.data.fetch import must_fetch

    query = table_query()
    for known in workflow.rules:
        other = known.module_globals.get("MODULE")
        if settings.raw_file in known.output and other != MODULE:
            if getattr(known.params, "query", query.soql) != query.soql:
                sys.exit(
                    f"error: {CONFIG_PLACE}: dataset.source.file = {settings.raw_file}: module"
                    f" {other} fetches other groups, columns or periods into it; give each its file"
                )
            return False
    return must_fetch(query, Path(settings.raw_file))


def run_files():
    """The files of all runs."""
    return [f"{RESULTS}/runs/{job.name}.parquet" for job in experiment.jobs()]


def config_text():
    """The config as YAML: the file as it is, if it is the only one and nothing overrides it."""
    if len(CONFIG_FILES) == 1 and read_yaml(CONFIG_FILES[0]) == config:
        return CONFIG_FILES[0].read_text(encoding="utf-8")
    return yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True)


def benchmark_files():
    """Times of the jobs of this run; those of earlier configs may be in the same folder."""
    several = {
        "build_stream": settings.streams,
        "run_suite": [job.name for job in experiment.jobs()],
    }
    for study, block in settings.studies():
        several[f"{study.name}_point"] = study.points(block, list(settings.streams))
    folder = f"{RESULTS}/benchmarks/"
    # By their files: an importing workflow renames rules, and has others.
    paths = [str(rule.benchmark) for rule in workflow.rules]
    found = [path.removeprefix(folder) for path in paths if path.startswith(folder)]
    stages = {Path(path).parts[0].removesuffix(".tsv") for path in found} - {"render_report"}
    # A table that is there is fetched by no rule any more, but it was.
    stages |= {"fetch_dataset"} if settings.dataset.source.kind == "web" else set()
    names = [f"{stage}/{name}" for stage in stages & set(several) for name in several[stage]]
    return [f"{folder}{name}.tsv" for name in sorted({*names, *stages - set(several)})]


def announce_results():
    """Say where the things are that a person wants to open."""
    print(f"\nThe report, all of it in one page:\n{RESULTS}/report/index.html")
    for kind, suffix in (("tables", "html"), ("figures", "png")):
        found = sorted(Path(RESULTS, kind).glob(f"*.{suffix}"))
        found = [path for path in found if not path.name.endswith(".fragment.html")]
        print(
            "\n".join(["", f"{kind.capitalize()} (other formats next to them):", *map(str, found)])
        )
    if settings.dataset.private:
        print(f"\n{RESULTS}: {HOLDS_RAW_COUNTS}")


def announce_errors():
    """Say again what went wrong, after all that Snakemake says."""
    if errors := errors_since(Path(RESULTS, "logs"), STARTED):
        print("\n".join(["", "What went wrong:", *errors]), file=sys.stderr)

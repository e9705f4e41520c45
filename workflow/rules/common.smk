import os
import re
import sys
import time
from pathlib import Path

import yaml

import dpol
from dpol.errors import DpolError
from dpol.experiment import check_local_table, parse_experiment
from dpol.files import check_writable
from dpol.logs import errors_since
from dpol.progress import ProgressHandler
from dpol.yaml_files import read_yaml

# One thread a job: Snakemake runs jobs side by side, and numbers stay the same on any machine.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

if found := re.search(r"[^\w@%+=:,./-]", sys.executable):
    # Snakemake starts scripts by this path without quotes.
    sys.exit(
        f"error: the path of Python holds {found[0]!r}: {sys.executable}; move the checkout, or its"
        " environment, to a path of letters, digits and ._-/"
    )

try:
    for file in workflow.configfiles:
        read_yaml(file)
    experiment = parse_experiment(config, " + ".join(map(str, workflow.configfiles)))
    check_local_table(experiment.config)
    check_writable(f"results/{experiment.config.run}")
except DpolError as error:
    sys.exit(f"error: {error}")

settings = experiment.config
STARTED = time.time()
RESULTS = f"results/{settings.run}"
RUN = "{stream}/{suite}/{calibration}/{level}/block-{block}"

# Priority of the longest jobs, which need no run: begun last, they would run alone at the end.
LONGEST_FIRST = 1
# Priority of what most often fails, for want of a network or by a mistake in a table: told at once.
DATA_FIRST = 2


wildcard_constraints:
    stream="[^/]+",
    suite="[^/]+",
    calibration="[^/]+",
    level="[^/]+",
    block=r"\d+",


PACKAGE = Path(dpol.__file__).parent
BASE = ["__init__.py", "errors.py", "files.py", "frames.py", "logs.py", "randomness.py"]
CONFIG = ["config/*.py", "settings.py", "studies/*/settings.py"]
PLAY = [*BASE, "streams.py", "privacy/*.py", "local/*.py", "lazy/*.py", "experts/**/*.py"]
CODE = {
    "data": [*BASE, *CONFIG, "data/*.py"],
    "streams": [*BASE, *CONFIG, "data/*.py", "streams.py"],
    "play": [*PLAY, "evaluation/memory.py", "evaluation/runs.py"],
    "summary": [
        *BASE,
        "intervals.py",
        *CONFIG,
        "streams.py",
        "privacy/*.py",
        "evaluation/**/*.py",
    ],
    "amplification": [*PLAY, "intervals.py", *CONFIG, "evaluation/**/*.py"],
    "lazy": [*PLAY, *CONFIG, "intervals.py", "studies/**/*.py"],
    "distributions": [
        *BASE,
        "intervals.py",
        *CONFIG,
        "streams.py",
        "privacy/*.py",
        "local/*.py",
        "distributions/*.py",
        "evaluation/**/*.py",
    ],
    "audit": [
        *PLAY,
        "intervals.py",
        *CONFIG,
        "papers.py",
        "studies/convex/*.py",
        "distributions/*.py",
        "evaluation/**/*.py",
    ],
    "tables": [*BASE, *CONFIG, "papers.py", "wording.py", "tables/**/*", "studies/**/*.py"],
    "plots": [*BASE, *CONFIG, "wording.py", "plots/*.py", "studies/**/*.py"],
    "report": [
        *BASE,
        *CONFIG,
        "papers.py",
        "wording.py",
        "streams.py",
        "evaluation/audit/core.py",
        "evaluation/claims/core.py",
        "studies/*/shown.py",
        "tables/**/*",
        "report/**/*",
    ],
}


def code(stage):
    """The files of dpol that a stage depends on: Snakemake itself does not look into imports."""
    found = (path for pattern in CODE[stage] for path in PACKAGE.glob(pattern))
    return sorted(str(path) for path in found if path.is_file())


def figure(name, category, title, caption=None):
    """The files of a figure; `snakemake --report` shows the first."""
    path, caption = f"{RESULTS}/figures/{name}", f"../report/{caption or name}.rst"
    labels = {"what": title, "kind": "figure"}
    shown = report(f"{path}.svg", caption=caption, category=category, labels=labels)
    return [shown, *multiext(path, ".png", ".pdf")]


def table(name, category, title, caption=None):
    """The files of a table; `snakemake --report` shows the first."""
    path, caption = f"{RESULTS}/tables/{name}", f"../report/{caption or name}.rst"
    labels = {"what": title, "kind": "table"}
    shown = report(f"{path}.html", caption=caption, category=category, labels=labels)
    return [shown, *multiext(path, ".md", ".csv", ".tex")]


def model_dump(part):
    """A part of the config as plain values, fit for params."""
    return part.model_dump(mode="json")


def wanted_groups():
    """The groups of all streams."""
    return sorted({group for stream in settings.streams.values() for group in stream.groups})


def table_must_be_fetched():
    """Whether the raw table of a web source is missing, or was fetched for another query."""
    from dpol.data.fetch import must_fetch, query_for

    return must_fetch(query_for(settings.dataset, wanted_groups()), Path(settings.raw_file))


def run_files():
    """The files of all runs."""
    return [f"{RESULTS}/runs/{job.name}.parquet" for job in experiment.jobs()]


def study_files():
    """Tables and figures of the studies that the config asks for."""
    found = []
    if settings.amplification is not None:
        found += [rules.render_amplification.output, rules.render_batching.output]
    studies = [name for name in ("lazy", "convex") if getattr(settings, name) is not None]
    for study in studies:
        found += [f"{RESULTS}/figures/{study}-regret.svg", f"{RESULTS}/tables/{study}-regret.md"]
    if studies:
        found += [rules.render_rates.output]
    if settings.distributions is not None:
        found += rules.render_distributions.output
    if settings.audit is not None:
        found += [rules.render_audit.output, rules.render_claims.output]
    if settings.comparison is not None:
        found += rules.render_comparison.output
    return found


def config_text():
    """The config as YAML: the file as it is, if it is the only one and nothing overrides it."""
    if len(workflow.configfiles) == 1 and read_yaml(workflow.configfiles[0]) == config:
        return Path(workflow.configfiles[0]).read_text(encoding="utf-8")
    return yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True)


def benchmark_files():
    """Times of the jobs of this run; those of earlier configs may lie beside them."""
    study = settings.distributions
    hospitals = study is not None and study.patients_per_week is not None
    several = {
        "build_stream": settings.streams,
        "run_suite": [job.name for job in experiment.jobs()],
        "render_lazy": [name for name in ("lazy", "convex") if getattr(settings, name) is not None],
        "study_labels": LABEL_SETTINGS if study is not None else [],
        "study_hospitals": settings.streams if hospitals else [],
    }
    stages = {rule.name for rule in workflow.rules if rule.benchmark} - {"render_report"}
    # A table that is there is fetched by no rule any more, but it was.
    stages |= {"fetch_dataset"} if settings.dataset.source.kind == "web" else set()
    names = [f"{stage}/{name}" for stage in stages & set(several) for name in several[stage]]
    return [f"{RESULTS}/benchmarks/{name}.tsv" for name in sorted({*names, *stages - set(several)})]


def announce_results():
    """Say where the things are that a person wants to open."""
    print(f"\nThe report, all of it in one page:\n{RESULTS}/report/index.html")
    for kind, suffix in (("tables", "html"), ("figures", "png")):
        found = sorted(Path(RESULTS, kind).glob(f"*.{suffix}"))
        print(
            "\n".join(["", f"{kind.capitalize()} (other formats beside them):", *map(str, found)])
        )


def announce_errors():
    """Say again what went wrong, after all that Snakemake says."""
    if errors := errors_since(Path(RESULTS, "logs"), STARTED):
        print("\n".join(["", "What went wrong:", *errors]), file=sys.stderr)


def watch_progress():
    """Tell jobs done and time left at the end of each stage."""
    from snakemake.logging import logger

    def makes_files(rule):
        return bool(workflow.get_rule(rule).output)

    logger.addHandler(ProgressHandler(Path(RESULTS, "benchmarks"), makes_files, logger.info))


if workflow.is_main_process:
    watch_progress()

import os
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import yaml

from dpol.core.errors import DpolError
from dpol.config.experiment import check_local_table, packages_played, parse_experiment
from dpol.core.files import check_writable
from dpol.core.imports import code_hash
from dpol.core.yaml_files import read_yaml
from dpol.core.words import HOLDS_RAW_COUNTS
from dpol.data.panel import provenance_of
from dpol.studies.registry import load_studies
from dpol.studies.study import (
    code_of_results,
    code_of_page,
    code_of_shown,
    codes_of_points,
    played_by,
)

# One thread a job: Snakemake runs jobs side by side, and numbers do not depend on cores.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

if found := re.search(r"[^\w@%+=:,./-]", sys.executable):
    # Snakemake starts scripts by this path without quotes.
    sys.exit(
        f"error: the path of Python holds {found[0]!r}: {sys.executable}; move the checkout, or its"
        " environment, to a path of letters, digits and ._-/"
    )

# Where the config came from. The config files of an importing workflow are not read.
CONFIG_FILES = [] if MODULE else [Path(file) for file in workflow.configfiles]
CONFIG_PLACE = f"config of module {MODULE}" if MODULE else " + ".join(map(str, CONFIG_FILES))

try:
    for file in CONFIG_FILES:
        read_yaml(file)
    settings = parse_experiment(config, CONFIG_PLACE).config
    if not MODULE:  # a rule of the importing workflow may make the table
        check_local_table(settings)
    check_writable(f"results/{settings.run}")
except DpolError as error:
    sys.exit(f"error: {error}")

RESULTS = f"results/{settings.run}"

for known in workflow.rules:
    other = known.module_globals.get("MODULE")
    if other != MODULE and known.module_globals.get("RESULTS") == RESULTS:
        sys.exit(
            f"error: {CONFIG_PLACE}: run = {settings.run}: module {other} has a run of this name,"
            f" and writes to {RESULTS} too; give each module its own run"
        )

# The kinds of sources whose table, or archive, is fetched once.
FETCHED = ("web", "package")

# Tables, logs and times stay on this disk where a storage provider holds the results: dpol looks
# for a table and its record before any job runs, and the page reads all logs.
RAW = local(settings.raw_file)

# Plain, for `expand`: an output of a rule has flags where a storage provider holds it.
STREAM = f"{RESULTS}/streams/{{stream}}.parquet"

# Priority of the longest jobs, which need no run: begun last, they would run alone at the end.
LONGEST_FIRST = 1
# Priority of what most often fails, for want of a network or by a mistake in a table: reported at once.
DATA_FIRST = 2


wildcard_constraints:
    stream="[^/]+",
    point=".+",


def dump(part):
    """A part of the config as plain values, fit for params."""
    return part.model_dump(mode="json")


FACTS = settings.facts
# No number depends on a title.
UNTITLED_FACTS = replace(
    FACTS,
    streams={label: label for label in FACTS.streams},
    questions={label: label for label in FACTS.questions},
)
# The studies of the config with their settings, their points by name and label, and the hashes of
# the code of what they play.
STUDIES = settings.studies()
EVERY_STUDY = {**load_studies(), **{study.name: study for study, _ in STUDIES}}.values()
POINTS = {study.name: study.points(block, UNTITLED_FACTS) for study, block in STUDIES}
CODES = {study.name: codes_of_points(study, POINTS[study.name]) for study, _ in STUDIES}


def below_results(paths):
    """Files below the folder of the run; a path, or a list of them, by name."""
    return {
        name: f"{RESULTS}/{it}" if isinstance(it, str) else [f"{RESULTS}/{path}" for path in it]
        for name, it in paths.items()
    }


def inputs_of_point(study, wildcards):
    """The files that a point names."""
    return below_results(POINTS[study.name][wildcards.point].get("inputs", {}))


def point_of(study, wildcards):
    """The plain values of a point."""
    return dict(POINTS[study.name][wildcards.point])


def code_of_point(study, wildcards):
    """The hash of the code of what a point plays."""
    return CODES[study.name][played_by(study, POINTS[study.name][wildcards.point])]


def files_of_all_points(study):
    """The files of each part of a study, in the order of the points."""
    patterns = below_results(study.files_of_points())
    return {name: expand(path, point=POINTS[study.name]) for name, path in patterns.items()}


def priority_of(study):
    """That of the longest jobs where a study has points that wait for nothing."""
    waiting = all(point.get("inputs") for point in POINTS[study.name].values())
    return 0 if waiting else LONGEST_FIRST


def reserved_memory(wildcards, attempt):
    """MB for the script of a point, and for Snakemake around it."""
    return attempt * (settings.job_memory_mb + 500)


def facts_of(study, facts):
    """The facts for a study: all for one that reads what was played, for others the titles of the
    streams that their points read."""
    known = vars(facts)
    read = {path for it in POINTS[study.name].values() for path in it.get("inputs", {}).values()}
    if "totals.parquet" in read:
        return known
    titles = {
        label: title if f"streams/{label}.parquet" in read else label
        for label, title in facts.streams.items()
    }
    return {name: known[name] for name in ("simulated", "confidence")} | {"streams": titles}


def code_of_script(name, *modules):
    """A hash of the code behind a script: when it changes, its jobs run again."""
    return code_hash(Path(workflow.source_path(f"../scripts/{name}.py")), *modules)


def result_tables(names):
    """The files of result tables, by name."""
    return {name: f"{name}.parquet" for name in names}


FIGURE_FORMATS = ("svg", "png", "pdf")
# The page of the report is made of fragments.
TABLE_FORMATS = ("html", "fragment.html", "md", "csv", "tex")


def shown_of(section):
    """The files of all figures and tables of a section; `snakemake --report` shows one of each."""
    kinds = []
    for it in section.figures:  # a page shows the narrow variant on phones
        narrow = () if it.place == "file" else ("narrow.svg",)
        kinds.append(("figure", it, (*FIGURE_FORMATS, *narrow)))
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


def made_sections(study, block):
    """The sections of a study that have files: an interactive figure alone is made by the page."""
    return [section for section in study.sections_of(block, FACTS) if section.made]


def outputs_of_studies():
    """The result tables, figures and tables of all studies."""
    names = [f"{study.name}_results" for study, _ in STUDIES]
    names += [shown_rule(it) for study, block in STUDIES for it in made_sections(study, block)]
    return [getattr(rules, name).output for name in names]


def wanted_groups():
    """The groups of all streams."""
    return sorted({group for stream in settings.streams.values() for group in stream.groups})


def table_query():
    """What is asked of a web source or a package index."""
    from dpol.data.fetch import query_for

    return query_for(settings.dataset, wanted_groups())


def table_must_be_fetched():
    """Whether the file of a web source or a package is missing, or is of another query.

    If a rule of the importing workflow makes it, or of another import, it is not fetched again.
    """
    from dpol.data.fetch import must_fetch

    query, file = table_query(), settings.dataset.source.file
    for known in workflow.rules:
        other = known.module_globals.get("MODULE")
        if file in known.output and other != MODULE:
            if getattr(known.params, "query", query.soql) != query.soql:
                sys.exit(
                    f"error: {CONFIG_PLACE}: dataset.source.file = {file}: module"
                    f" {other} fetches other groups, columns or periods into it; give each its file"
                )
            return False
    return must_fetch(query, Path(file))


def contents_of(*files):
    """A param that reads the tables of this machine: their checksums, or None for a table that a
    rule makes or that dpol fetched.

    Times alone do not tell: a corrected table that was unpacked or copied keeps its old one. For a
    table that a job may make they do, and it need not be there when the jobs are planned.
    """

    def contents(wildcards):
        return [_checksum(file) for file in files]

    return contents


def _checksum(file):
    if any(known.is_producer(file) for known in workflow.rules) or not Path(file).exists():
        return None
    facts = provenance_of(file, simulated=False)
    fetched = settings.dataset.source.kind in FETCHED and "fetched" in facts
    return None if fetched else facts["sha256"]


def config_text():
    """The config as YAML: the file as it is, if it is the only one and nothing overrides it."""
    if len(CONFIG_FILES) == 1 and read_yaml(CONFIG_FILES[0]) == config:
        return CONFIG_FILES[0].read_text(encoding="utf-8")
    return yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True)


def benchmark_files():
    """Times of the jobs of this run; those of earlier configs may be in the same folder."""
    several = {"build_stream": settings.played}
    several |= {f"{name}_point": points for name, points in POINTS.items()}
    folder = f"{RESULTS}/benchmarks/"
    # By their files: an importing workflow renames rules, and has others.
    paths = [str(rule.benchmark) for rule in workflow.rules]
    found = [path.removeprefix(folder) for path in paths if path.startswith(folder)]
    stages = {Path(path).parts[0].removesuffix(".tsv") for path in found} - {"render_report"}
    # A table that is there is fetched by no rule any more, but it was.
    stages |= {"fetch_dataset"} if settings.dataset.source.kind in FETCHED else set()
    names = [f"{stage}/{name}" for stage in stages & set(several) for name in several[stage]]
    return [f"{folder}{name}.tsv" for name in sorted({*names, *stages - set(several)})]


def files_played():
    """The files of which the results are made, as far as they are in the folder of the run."""
    points = [files_of_all_points(study) for study, _ in STUDIES]
    files = [path for parts in points for paths in parts.values() for path in paths]
    raw = [settings.raw_file, f"{settings.raw_file}.member.json"]
    return [*files, *expand(STREAM, stream=settings.played), *raw]


def made():
    """The places that a person wants to open, once all is made."""
    lines = [f"Done: {RESULTS}/report/index.html"]
    lines += [f"{kind}: {RESULTS}/{kind.lower()}" for kind in ("Tables", "Figures")]
    lines += [f"{RESULTS}: {HOLDS_RAW_COUNTS}"] if settings.dataset.private else []
    return "\n".join(lines)

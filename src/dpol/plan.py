"""What the workflow asks of a config: points, files, hashes, and what is fetched.

The rules read a `Plan` and hold no policy of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from dpol.config.experiment import check_local_table, parse_experiment
from dpol.config.models import Config
from dpol.core.errors import ConfigError
from dpol.core.files import check_writable, sha256
from dpol.core.plugins import Package, code_of_dpol, is_foreign, package_of
from dpol.core.words import HOLDS_RAW_COUNTS
from dpol.core.yaml_files import read_yaml
from dpol.data.panel import provenance_of
from dpol.experts.registry import modules_of
from dpol.noise import module_of_noise
from dpol.show.papers import REPORTED
from dpol.studies.study import Facts, FigureSpec, Point, Section, Study

if TYPE_CHECKING:
    from dpol.data.query import Query

FIGURE_FORMATS = ("svg", "png", "pdf")
TABLE_FORMATS = ("html", "fragment.html", "md", "csv", "tex")

SHORT_SECONDS = 20.0
"""Time on one core at which a job of several points is full; the start of a job takes one."""

Files = Mapping[str, str | list[str]]
"""Files by name, or lists of them, as paths from the working folder."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A checked config as the rules of the workflow see it.

    Args:
        config: of the run.
        place: where it came from, for messages.
        name: of its files, for the page of the run.
        text: the config as YAML: its file as it is, if it is the only one and nothing overrides it.
    """

    config: Config
    place: str
    name: str
    text: str

    # --- What is computed ---

    @property
    def folder(self) -> str:
        """The folder of the run."""
        return f"results/{self.config.run}"

    @cached_property
    def studies(self) -> list[tuple[Study, Any]]:
        """The studies of the config, each with its settings."""
        return self.config.studies()

    @cached_property
    def points(self) -> Mapping[str, Mapping[str, Point]]:
        """The points of each study, by its name and by their labels."""
        facts = self._untitled
        return {study.name: study.points(block, facts) for study, block in self.studies}

    @cached_property
    def jobs(self) -> Mapping[str, Mapping[str, Sequence[Point]]]:
        """The points of each job, by study and by the label of the job."""
        most = self.config.points_per_job
        return {
            study.name: dict(_jobs_of(self.points[study.name], most, study.seconds))
            for study, _ in self.studies
        }

    @property
    def seconds(self) -> dict[str, float]:
        """The time that a job of a study is expected to take on one core, by name of its rule."""
        return {
            f"{study.name}_point": sum(
                point.get("seconds", study.seconds) for point in self.points[study.name].values()
            )
            / len(self.jobs[study.name])
            for study, _ in self.studies
        }

    def inputs_of_job(self, study: Study, label: str) -> Files:
        """The files that the points of a job read, by their names for them."""
        return self._below(self.jobs[study.name][label][0].get("inputs", {}))

    def outputs_of_job(self, study: Study, block: Any) -> Files:
        """The files that a job makes of its points, by name, with `{point}` for its label."""
        return self._below(study.files_of_points(block))

    def parts_of_results(self, study: Study, block: Any) -> Files:
        """The files of which the result tables are made, lists by name."""
        labels = self.jobs[study.name]
        made = study.files_of_points(block).items()
        points = {name: [path.replace("{point}", it) for it in labels] for name, path in made}
        return self._below({**points, **study.reads(list(self.config.played))})

    def results(self, study: Study, block: Any) -> Files:
        """The files of the result tables of a study, by name."""
        return self.tables(study.results_of(block, self.config.facts))

    def tables(self, names: Sequence[str]) -> Files:
        """The files of result tables, by name."""
        return self._below({name: f"{name}.parquet" for name in names})

    def sections(self, study: Study, block: Any) -> list[Section]:
        """The sections of a study that have files; an interactive figure alone has none."""
        return [it for it in study.sections_of(block, self.config.facts) if it.made]

    def shown(self, section: Section) -> list[tuple[str, dict[str, Any] | None]]:
        """The files of a section; the first of each figure and table with what Snakemake's own
        report says of it."""
        shown = [("figure", it.name, it.title, _figure_formats(it)) for it in section.figures]
        shown += [("table", it.name, it.title, TABLE_FORMATS) for it in section.tables]
        found: list[tuple[str, dict[str, Any] | None]] = []
        for kind, name, title, formats in shown:
            about = {
                "caption": "../report/section.rst",
                # Snakemake takes what follows a colon for no part of the name.
                "category": section.title.replace(": ", " – "),
                "labels": {"what": title, "kind": kind},
            }
            first, *others = (f"{self.folder}/{kind}s/{name}.{suffix}" for suffix in formats)
            found += [(first, about), *((path, None) for path in others)]
        return found

    def mb_of_results(self, input_mb: float) -> int:
        """The memory that making result tables takes, in MB, of parts of so many MB."""
        return round(1000 + 10 * input_mb)

    @property
    def outputs(self) -> list[str]:
        """The result tables, figures and tables of all studies."""
        found: list[str] = []
        for study, block in self.studies:
            found += map(str, self.results(study, block).values())
            found += [path for it in self.sections(study, block) for path, _ in self.shown(it)]
        return found

    @property
    def played_files(self) -> list[str]:
        """All files of which the results are made; who deletes them keeps the report."""
        parts = [self.parts_of_results(study, block) for study, block in self.studies]
        files = [path for lists in parts for paths in lists.values() for path in paths]
        raw = [self.config.raw_file, f"{self.config.raw_file}.member.json"]
        streams = [f"{self.folder}/streams/{label}.parquet" for label in self.config.played]
        return [*dict.fromkeys([*files, *streams]), *raw]

    def waits(self, study: Study) -> bool:
        """True if all points of a study wait for files; others may start at once."""
        return all(point.get("inputs") for point in self.points[study.name].values())

    # --- What a job depends on, besides its inputs ---

    @cached_property
    def _untitled(self) -> Facts:
        """The facts of the run without titles, on which no number depends."""
        facts = self.config.facts
        streams, questions = (
            {it: it for it in titled} for titled in (facts.streams, facts.questions)
        )
        return replace(facts, streams=streams, questions=questions)

    def facts_of_results(self, study: Study) -> dict[str, Any]:
        """The facts on which the result tables of a study may depend, as plain values."""
        return self._known_to(study, self._untitled)

    def facts_of_shown(self, study: Study) -> dict[str, Any]:
        """The facts for the figures and tables of a study: with titles."""
        return self._known_to(study, self.config.facts)

    def _known_to(self, study: Study, facts: Facts) -> dict[str, Any]:
        """All facts for a study that reads streams, or total gains on them; else those of all runs.

        Otherwise a new title or privacy level would make the tables of all studies again.
        """
        points = self.points[study.name].values()
        read = {path for point in points for path in point.get("inputs", {}).values()}
        if any(path.startswith("streams/") or path == "totals.parquet" for path in read):
            return vars(facts)
        shared = Facts(
            streams={},
            simulated=facts.simulated,
            confidence=facts.confidence,
            delta=facts.delta,
            seed=facts.seed,
        )
        return vars(shared)

    @cached_property
    def _packages_of_jobs(self) -> Mapping[str, Mapping[str, Sequence[str]]]:
        """The packages of others that each job needs, by study and label."""
        known: dict[str, Sequence[str]] = {}  # many points play the same suite

        def packages_of(study: Study, point: Point) -> Sequence[str]:
            suite, noises = point.get("suite", ()), [noise for noise, _ in point.get("games", ())]
            key = repr((study.module, suite, noises))
            if key not in known:
                modules = [study.module, *map(module_of_noise, noises)]
                modules += [module for entry in suite for module in modules_of(entry)]
                known[key] = sorted({it.partition(".")[0] for it in modules if is_foreign(it)})
            return known[key]

        return {
            study.name: {
                label: sorted({top for it in points for top in packages_of(study, it)})
                for label, points in self.jobs[study.name].items()
            }
            for study, _ in self.studies
        }

    @cached_property
    def packages(self) -> Mapping[str, Package]:
        """The packages other than dpol that the run needs, by the name that is imported.

        Raises:
            ModuleNotFoundError: one is not installed where jobs find it.
        """
        jobs = [tops for it in self._packages_of_jobs.values() for tops in it.values()]
        return {top: package_of(top) for top in sorted({top for tops in jobs for top in tops})}

    @cached_property
    def code(self) -> str:
        """A hash of what computes: dpol without its checks, commands, report and looks."""
        return code_of_dpol("checks", "cli", "report", "show")

    @cached_property
    def _code_that_draws(self) -> str:
        return code_of_dpol("checks", "cli", "report")

    def code_of_job(self, study: Study, label: str) -> list[str]:
        """Hashes of what computes a job: dpol, and each package that its points play."""
        tops = self._packages_of_jobs[study.name][label]
        return [self.code, *(self.packages[top].sha256 for top in tops)]

    def code_of_results(self, study: Study) -> list[str]:
        """Hashes of what makes the result tables of a study: all that its points need, and the
        paper's numbers, which are in `show` because no point needs them."""
        tops = {top for tops in self._packages_of_jobs[study.name].values() for top in tops}
        packages = (self.packages[top].sha256 for top in sorted(tops))
        return [self.code, sha256(REPORTED), *packages]

    def code_of_shown(self, study: Study) -> list[str]:
        """Hashes of what draws the figures and renders the tables of a study."""
        return [self._code_that_draws, *self.code_of_results(study)[1:]]

    def code_of_page(self) -> list[str]:
        """Hashes of what writes the page of the run."""
        return [code_of_dpol("checks", "cli"), *(it.sha256 for it in self.packages.values())]

    @property
    def tables_read(self) -> list[str]:
        """The tables that are cleaned: of counts, and of capacities if they have one."""
        return [self.config.raw_file, *self.config.dataset.capacity_files]

    def contents(self, *files: str, made: Callable[[str], bool]) -> list[str | None]:
        """Checksums of tables on this machine; None for one that a job makes, or dpol fetched.

        Times alone do not tell: a corrected table that was unpacked or copied keeps its old one.

        Args:
            files: the tables.
            made: tells of those that a job makes, whose times do tell; they need not be there yet.
        """
        return [None if made(it) or not Path(it).exists() else self._checksum(it) for it in files]

    def _checksum(self, file: str) -> str | None:
        facts = provenance_of(file, simulated=False)
        fetched = self.fetched and "fetched" in facts
        return None if fetched else str(facts["sha256"])

    # --- What is fetched ---

    @property
    def wanted_groups(self) -> list[str]:
        """The groups of all streams."""
        return sorted({group for stream in self.config.streams.values() for group in stream.groups})

    @property
    def fetched(self) -> str:
        """The table, or archive, of a web source or a package; empty for other sources."""
        source = self.config.dataset.source
        return source.file if source.kind == "web" or source.kind == "package" else ""

    @cached_property
    def query(self) -> dict[str, str]:
        """What is asked of the web source, as SoQL."""
        return self._query.soql

    @property
    def must_fetch(self) -> bool:
        """True if the table is missing, or is of another query."""
        from dpol.data.fetch import must_fetch

        return bool(self.fetched) and must_fetch(self._query, Path(self.fetched))

    @property
    def _query(self) -> Query:
        from dpol.data.query import query_for  # not where nothing is fetched: it takes a while

        return query_for(self.config.dataset, self.wanted_groups)

    def refuse_twins(self, others: Mapping[str, Plan]) -> None:
        """Refuse to write what another import of the rules into one workflow writes.

        Args:
            others: their plans, by the names of the imports.

        Raises:
            ConfigError: the same run, or another table in the same file.
        """
        for name, other in others.items():
            if other.folder == self.folder:
                raise ConfigError(
                    f"{self.place}: run = {self.config.run}: module {name} has a run of this name,"
                    f" and writes to {self.folder} too; give each module its own run"
                )
            if other.fetched == self.fetched and self.must_fetch and other.query != self.query:
                raise ConfigError(
                    f"{self.place}: dataset.source.file = {self.fetched}: module {name} fetches"
                    " other groups, columns or periods into it; give each its file"
                )

    # --- What is said ---

    @property
    def benchmarks(self) -> list[str]:
        """Files of the times of the jobs of this run; those of earlier configs may be beside.

        A table that is there is fetched by no rule any more, but it was.
        """
        source = self.config.dataset.source
        sections = [it for study, block in self.studies for it in self.sections(study, block)]
        single = {
            "fetch_dataset": bool(self.fetched),
            "extract_table": bool(getattr(source, "member", None)),
            "simulate_dataset": source.kind == "simulated",
            "clean_panel": source.kind != "gains",
            **{f"{study.name}_results": True for study, _ in self.studies},
            **{rule_of_section(it): True for it in sections},
        }
        several = {"build_stream": list(self.config.played)}
        several |= {f"{name}_point": list(jobs) for name, jobs in self.jobs.items()}
        names = [rule for rule, is_there in single.items() if is_there]
        names += [f"{rule}/{label}" for rule, labels in several.items() for label in labels]
        return [f"{self.folder}/benchmarks/{name}.tsv" for name in sorted(names)]

    @property
    def done(self) -> str:
        """The places that a person wants to open, once all is made."""
        lines = [f"Done: {self.folder}/report/index.html"]
        lines += [f"{kind}: {self.folder}/{kind.lower()}" for kind in ("Tables", "Figures")]
        lines += [f"{self.folder}: {HOLDS_RAW_COUNTS}"] if self.config.dataset.private else []
        return "\n".join(lines)

    def _below(self, paths: Mapping[str, str | Sequence[str]]) -> Files:
        """Files below the folder of the run."""
        return {
            name: f"{self.folder}/{it}"
            if isinstance(it, str)
            else [f"{self.folder}/{path}" for path in it]
            for name, it in paths.items()
        }


def make_plan(
    raw: Mapping[str, Any], files: Sequence[str | Path], module: str | None = None
) -> Plan:
    """Check a config, and plan its run.

    Args:
        raw: the config as Snakemake has it: of the files, with what the command line overrides.
        files: the config files; none where another workflow imports the rules.
        module: the name by which that workflow imports them.

    Raises:
        ConfigError: the config breaks rules, or its table is not there.
        OutputError: the folder of the run cannot be written.
    """
    paths = [Path(file) for file in files]  # Snakemake has that of the default config as text
    place = f"config of module {module}" if module else " + ".join(map(str, paths))
    texts = [read_yaml(path) for path in paths]
    config = parse_experiment(raw, place).config
    if not module:  # there a rule of the importing workflow may make the table
        check_local_table(config)
    check_writable(f"results/{config.run}")
    if texts == [raw]:
        text = paths[0].read_text(encoding="utf-8")
    else:
        text = yaml.safe_dump(dict(raw), sort_keys=False, allow_unicode=True)
    name = " + ".join(path.name for path in paths) or f"module {module}"
    return Plan(config=config, place=place, name=name, text=text)


def _jobs_of(
    points: Mapping[str, Point], most: int, usual: float
) -> Iterator[tuple[str, Sequence[Point]]]:
    """The points of each job, in their order, by its label: that of the first, and how many follow.

    Args:
        points: of a study, by their labels.
        most: points in a job.
        usual: the seconds of a point that does not say so.

    >>> points = {"a": {"seconds": 8.0}, "b": {}, "c": {}, "d": {"inputs": {"stream": "x"}}}
    >>> [label for label, _ in _jobs_of(points, 8, 7.0)]
    ['a+1', 'c', 'd']
    """
    job: dict[str, Point] = {}
    for label, point in points.items():
        if job and (len(job) == most or not _is_short([*job.values(), point], usual)):
            yield _label_of(job), [*job.values()]
            job = {}
        job[label] = point
    if job:
        yield _label_of(job), [*job.values()]


def _is_short(points: Sequence[Point], usual: float) -> bool:
    """True if one job may compute all these points: they read the same files, and are fast."""
    first = points[0].get("inputs")
    expected = sum(it.get("seconds", usual) for it in points)
    return expected <= SHORT_SECONDS and all(it.get("inputs") == first for it in points)


def _label_of(job: Mapping[str, Point]) -> str:
    first, *others = job
    return f"{first}+{len(others)}" if others else first


def rule_of_section(section: Section) -> str:
    """The name of the rule that shows a section."""
    return f"{section.name.replace('-', '_')}_shown"


def _figure_formats(figure: FigureSpec) -> Sequence[str]:
    """The formats of a figure; one that the page shows has a narrow variant for phones."""
    return FIGURE_FORMATS if figure.place == "file" else (*FIGURE_FORMATS, "narrow.svg")

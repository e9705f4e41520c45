"""The plan of a run, from its config: points, jobs, hashes of code, and what to fetch.

The rules of the workflow read a `Plan` and decide nothing themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from dpol.config.experiment import check_local_table, parse_experiment
from dpol.config.models import Config
from dpol.core.errors import ConfigError, DataError
from dpol.core.files import check_writable
from dpol.core.plugins import Package, is_foreign, package_of
from dpol.core.shipped import pipeline
from dpol.core.words import counted
from dpol.core.yaml_files import read_yaml
from dpol.data.panel import provenance_of
from dpol.experts.registry import EVERY_ALGORITHM
from dpol.reruns.code_hashes import every_module, hash_by_room, imports_of, reach
from dpol.reruns.record import (
    Note,
    asked,
    asked_anew,
    changed_files,
    note_of,
    noted_sums,
    read_notes,
)
from dpol.studies.study import Point, Study

if TYPE_CHECKING:
    from dpol.data.query import Query

SHORT_SECONDS = 20.0
"""Expected time on one core at which a job of several points is full."""
START_SECONDS = 1.3
"""Time on one core to start a job, before its points."""

REGISTRY = "dpol.experts.registry"
"""The module that imports algorithms by name."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A checked config, as the rules of the workflow use it.

    Args:
        config: config of the run.
        place: origin of the config, for messages.
        name: names of its files, for the report.
        text: the config as YAML; the unchanged file if it is the only one and nothing overrides it.
    """

    config: Config
    place: str
    name: str
    text: str

    # --- What is computed ---

    @property
    def folder(self) -> str:
        """Folder of the run."""
        return f"results/{self.config.run}"

    @cached_property
    def studies(self) -> list[tuple[Study, Any]]:
        """Studies of the config, each with its settings."""
        return self.config.studies()

    @cached_property
    def points(self) -> Mapping[str, Mapping[str, Point[Any]]]:
        """Points of each study, by study and label."""
        facts = self.config.facts
        return {study.name: study.points(block, facts) for study, block in self.studies}

    @cached_property
    def jobs(self) -> Mapping[str, Mapping[str, Sequence[Point[Any]]]]:
        """Points of each job, by study and label of the job."""
        most = self.config.points_per_job
        return {study.name: _jobs_of(self.points[study.name], most) for study, _ in self.studies}

    @property
    def seconds(self) -> dict[str, float]:
        """Expected seconds of a study's job on one core, by the name of the rule."""
        return {
            f"{study.name}_point": START_SECONDS
            + sum(point.seconds for point in self.points[study.name].values())
            / len(self.jobs[study.name])
            for study, _ in self.studies
        }

    # --- What a job depends on, besides its inputs ---

    @cached_property
    def packages(self) -> Mapping[str, Package]:
        """Packages other than dpol that the run needs, by the name of import.

        Raises:
            ConfigError: a package is not installed where jobs find it.
        """
        named = {study.module for study, _ in self.studies}
        named |= {it for points in self.points.values() for it in code_of(points.values())}
        return {top: package_of(top) for top in _foreign(named)}

    def code(self, script: str, *named: str) -> dict[str, str]:
        """Return a hash of each room that a job can reach, and of other packages.

        Args:
            script: name of its script.
            named: modules that it imports by name: of its study, and of what its points play.
        """
        packages = [self.packages[top] for top in _foreign(named)]
        return {
            **hash_by_room(modules_of_job(script, *named)),
            **{f"package {package.name}": package.as_version[1] for package in packages},
        }

    def contents(self, *files: str, made: Callable[[str], bool]) -> list[str | None]:
        """Return checksums of local tables; None for a table that a job makes or dpol fetched.

        Modification times are not enough: a corrected table that was unpacked or copied may be
        older than the results.

        Args:
            files: the tables.
            made: whether a job makes a table; it need not exist yet, and its time is reliable.
        """
        return [
            None if made(file) or not Path(file).exists() else self._checksum(file)
            for file in files
        ]

    def _checksum(self, file: str) -> str | None:
        facts = provenance_of(file, simulated=False)
        fetched = self.fetched and "fetched" in facts
        return None if fetched else str(facts["sha256"])

    # --- What is fetched ---

    @property
    def wanted_groups(self) -> list[str]:
        """Groups of all streams."""
        return sorted({group for stream in self.config.streams.values() for group in stream.groups})

    @property
    def fetched(self) -> str:
        """The table of a web source; empty for other sources."""
        source = self.config.dataset.source
        return source.file if source.kind == "web" else ""

    @cached_property
    def query(self) -> dict[str, str]:
        """Query of the web source, as SoQL."""
        return self._query.soql

    @property
    def must_fetch(self) -> bool:
        """Whether the table is missing, or was fetched by another query."""
        from dpol.data.query import must_fetch

        return bool(self.fetched) and must_fetch(self._query, Path(self.fetched))

    @property
    def _query(self) -> Query:
        from dpol.data.query import query_for  # slow, and not needed if nothing is fetched

        return query_for(self.config.dataset, self.wanted_groups)

    def refuse_twins(self, others: Mapping[str, Plan]) -> None:
        """Check that no other import of the rules into the workflow fetches another table.

        Args:
            others: the plans of the other imports, by name.

        Raises:
            ConfigError: two imports have different tables in the same file.
        """
        for name, other in others.items():
            if other.fetched == self.fetched and self.must_fetch and other.query != self.query:
                raise ConfigError(
                    f"{self.place}: dataset.source.file = {self.fetched}: module {name} fetches"
                    " other groups, columns or periods into it; give each module its own file"
                )

    # --- What is there already ---

    @cached_property
    def _notes(self) -> Mapping[Path, Note]:
        return read_notes(Path(self.folder))

    @cached_property
    def _noted(self) -> Mapping[str, str]:
        return noted_sums(self._notes)

    def refuse_changed_files(self) -> None:
        """Check that the files of the run are as their jobs wrote them.

        Raises:
            DataError: some are not, or cannot be read.
        """
        if names := changed_files(Path(self.folder), self._notes):
            more = [f"and {counted(len(names) - 10, 'other file')}"] if len(names) > 10 else []
            raise DataError(
                f"{self.folder}: changed since the jobs wrote them:"
                f" {', '.join([*names[:10], *more])}; move or delete these files, and run snakemake"
                " again"
            )

    def asked_anew(self, log: str, params: Mapping[str, Any]) -> list[str] | None:
        """Return what a job is asked otherwise than it answered; None if it left no note.

        Args:
            log: path of its log.
            params: what it is asked.
        """
        note = self._notes.get(note_of(Path(log)))
        return None if note is None else asked_anew(note, asked(params), self._noted)


def make_plan(
    raw: Mapping[str, Any], files: Sequence[str | Path], module: str | None = None
) -> Plan:
    """Check a config and plan its run.

    Args:
        raw: the config from Snakemake: the files, with overrides of the command line.
        files: the config files; none if another workflow imports the rules.
        module: the name under which another workflow imports the rules.

    Raises:
        ConfigError: the config breaks rules, or its table does not exist.
        OutputError: the folder of the run cannot be written.
    """
    paths = [Path(file) for file in files]  # Snakemake gives the default config as text
    place = f"config of module {module}" if module else " + ".join(map(str, paths))
    texts = [read_yaml(path) for path in paths]
    config = parse_experiment(raw, place).config
    if not module:  # a rule of an importing workflow may make the table
        check_local_table(config)
    check_writable(f"results/{config.run}")
    if texts == [raw]:
        text = paths[0].read_text(encoding="utf-8")
    else:
        text = yaml.safe_dump(dict(raw), sort_keys=False, allow_unicode=True)
    name = " + ".join(path.name for path in paths) or f"module {module}"
    return Plan(config=config, place=place, name=name, text=text)


def modules_of_job(script: str, *named: str) -> frozenset[str]:
    """Return the modules of dpol that the job of a script can import.

    Args:
        script: name of the script.
        named: modules that it imports by name.
    """
    modules = reach(*imports_of(pipeline() / f"workflow/scripts/{script}.py"), *named)
    if REGISTRY in modules:
        modules |= reach(*EVERY_ALGORITHM)
    if _foreign(named):  # dpol does not read what other packages import
        shows = ["show"] if script == "study_point" else []
        modules |= every_module("checks", "cli", "plan", "report", *shows)
    return modules


def code_of(points: Iterable[Point[Any]]) -> list[str]:
    """Return the modules that points import by name, each once."""
    return sorted({module for point in points for module in point.code})


def inputs_of(points: Iterable[Point[Any]]) -> dict[str, list[str]]:
    """Return the files below results/<run>/ that points read, each once, in lists by name."""
    files: dict[str, dict[str, None]] = {}
    for point in points:
        for name, path in point.inputs.items():
            files.setdefault(name, {})[path] = None
    return {name: list(paths) for name, paths in files.items()}


def _foreign(modules: Iterable[str]) -> list[str]:
    """Return the names of packages other than dpol, sorted."""
    return sorted({module.partition(".")[0] for module in modules if is_foreign(module)})


def _jobs_of(points: Mapping[str, Point[Any]], most: int) -> dict[str, Sequence[Point[Any]]]:
    """Return the points of each job by label; a label such as `a+1` is the first and the rest.

    Args:
        points: points of a study, by label and in order.
        most: largest number of points in a job.

    >>> points = {label: Point(settings={}, seconds=8.0) for label in "abc"}
    >>> points["d"] = Point(settings={}, inputs={"stream": "x"}, seconds=1.0)
    >>> list(_jobs_of(points, 8))
    ['a+1', 'c', 'd']
    """
    jobs: list[dict[str, Point[Any]]] = []
    for label, point in points.items():
        if not jobs or len(jobs[-1]) == most or not _is_short([*jobs[-1].values(), point]):
            jobs.append({})
        jobs[-1][label] = point
    return {_label_of(job): [*job.values()] for job in jobs}


def _is_short(points: Sequence[Point[Any]]) -> bool:
    """Return whether one job may compute all points: they read the same files, and are fast."""
    expected, first = sum(point.seconds for point in points), points[0].inputs
    return expected <= SHORT_SECONDS and all(point.inputs == first for point in points)


def _label_of(job: Mapping[str, Point[Any]]) -> str:
    first, *others = job
    return f"{first}+{len(others)}" if others else first

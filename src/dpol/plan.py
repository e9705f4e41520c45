"""The plan of a run, from its config: points, files, hashes of code, and what to fetch.

The rules of the workflow read a `Plan` and decide nothing themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from dpol.config.experiment import check_local_table, parse_experiment
from dpol.config.models import Config
from dpol.core.errors import ConfigError, DataError
from dpol.core.files import check_writable
from dpol.core.plugins import Package, is_foreign, package_of
from dpol.core.reach import ROOT, Code, every_module, imports_of, reach
from dpol.core.record import Note, asked, asked_anew, changed_files, note_of, noted_sums, read_notes
from dpol.core.shipped import pipeline
from dpol.core.words import HOLDS_RAW_COUNTS, counted
from dpol.core.yaml_files import read_yaml
from dpol.data.panel import provenance_of
from dpol.experts.registry import EVERY_ALGORITHM
from dpol.studies.registry import MAIN, PACKAGES, load_study
from dpol.studies.study import Facts, Point, Section, Study

if TYPE_CHECKING:
    from dpol.data.query import Query

FIGURE_FORMATS: Sequence[str] = ("svg", "png", "pdf")
TABLE_FORMATS: Sequence[str] = ("html", "fragment.html", "md", "csv")

SHORT_SECONDS = 20.0
"""Expected time on one core at which a job of several points is full."""
START_SECONDS = 1.3
"""Time on one core to start a job, before its points."""

REGISTRY = "dpol.experts.registry"
"""The module that imports algorithms by name."""

Files = Mapping[str, str | list[str]]
"""Files or lists of files by name, as paths from the working folder."""


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
    def points(self) -> Mapping[str, Mapping[str, Point]]:
        """Points of each study, by study and label."""
        facts = self._untitled
        return {study.name: study.points(block, facts) for study, block in self.studies}

    @cached_property
    def jobs(self) -> Mapping[str, Mapping[str, Sequence[Point]]]:
        """Points of each job, by study and label of the job."""
        most = self.config.points_per_job
        return {
            study.name: dict(_jobs_of(self.points[study.name], most)) for study, _ in self.studies
        }

    @property
    def seconds(self) -> dict[str, float]:
        """Expected seconds of a study's job on one core, by the name of the rule."""
        return {
            f"{study.name}_point": START_SECONDS
            + sum(point.seconds for point in self.points[study.name].values())
            / len(self.jobs[study.name])
            for study, _ in self.studies
        }

    def inputs_of_job(self, study: Study, label: str) -> Files:
        """Return the files that the points of a job read, by name."""
        return self._below(self.jobs[study.name][label][0].inputs)

    def outputs_of_job(self, study: Study, block: Any) -> Files:
        """Return the files that a job writes, by name, with `{point}` for its label."""
        return self._below(study.files_of_points(block, self.config.facts))

    def parts_of_results(self, study: Study, block: Any) -> Mapping[str, list[str]]:
        """Return the files that the points write, in lists by name."""
        return {
            name: [str(path).replace("{point}", label) for label in self.jobs[study.name]]
            for name, path in self.outputs_of_job(study, block).items()
        }

    def inputs_of_results(self, study: Study, block: Any) -> Files:
        """Return the files that the points write, and those that they read, in lists by name."""
        read: dict[str, dict[str, None]] = {}
        for point in self.points[study.name].values():
            for name, path in point.inputs.items():
                read.setdefault(name, {})[f"{self.folder}/{path}"] = None
        paths = {name: list(files) for name, files in read.items()}
        return {**paths, **self.parts_of_results(study, block)}

    def results(self, study: Study, block: Any) -> Files:
        """Return the files of a study's result tables, by name."""
        return self.tables(study.results_of(block, self.config.facts))

    def tables(self, names: Sequence[str]) -> Files:
        """Return the files of result tables, by name."""
        return self._below({name: f"{name}.parquet" for name in names})

    def sections(self, study: Study, block: Any) -> list[Section]:
        """Return the sections of a study with files; an interactive figure alone has no file."""
        sections = study.sections_of(block, self.config.facts)
        return [section for section in sections if section.made]

    def shown(self, study: Study, section: Section) -> list[tuple[str, dict[str, Any] | None]]:
        """Return the files of a section.

        The first file of each figure and table comes with its entry in Snakemake's own report.
        """
        shown = [("figure", it.name, FIGURE_FORMATS) for it in section.figures]
        shown += [("table", it.name, TABLE_FORMATS) for it in section.tables]
        files: list[tuple[str, dict[str, Any] | None]] = []
        for kind, name, formats in shown:
            about = {
                "caption": "../report/section.rst",
                # Snakemake drops the part of a name after a colon.
                "category": (section.title or study.title).replace(": ", " – "),
                "labels": {"what": name, "kind": kind},
            }
            first, *others = (f"{self.folder}/{kind}s/{name}.{suffix}" for suffix in formats)
            files += [(first, about), *((path, None) for path in others)]
        return files

    @property
    def outputs(self) -> list[str]:
        """Result tables, figures and tables of all studies."""
        files: list[str] = []
        for study, block in self.studies:
            files += map(str, self.results(study, block).values())
            for section in self.sections(study, block):
                files += [path for path, _ in self.shown(study, section)]
        return files

    @property
    def played_files(self) -> list[str]:
        """Files that the results are made from; the report stays if they are deleted."""
        parts = [self.parts_of_results(study, block) for study, block in self.studies]
        files = [path for lists in parts for paths in lists.values() for path in paths]
        streams = [f"{self.folder}/streams/{label}.parquet" for label in self.config.played]
        return [*dict.fromkeys([*files, *streams]), self.config.raw_file]

    def waits(self, study: Study) -> bool:
        """Return whether all points of a study wait for files; other studies start at once."""
        return all(point.inputs for point in self.points[study.name].values())

    # --- What a job depends on, besides its inputs ---

    @cached_property
    def _untitled(self) -> Facts:
        """The facts of the run without titles, which affect no number."""
        facts = self.config.facts
        streams, questions = (
            {label: label for label in titled} for titled in (facts.streams, facts.questions)
        )
        return replace(facts, streams=streams, questions=questions)

    def facts_of_results(self, study: Study) -> dict[str, Any]:
        """Return the facts that a study's result tables may depend on, as plain values."""
        return self._known_to(study, self._untitled)

    def facts_of_shown(self, study: Study) -> dict[str, Any]:
        """Return the facts for the figures and tables of a study, with titles."""
        return self._known_to(study, self.config.facts)

    def _known_to(self, study: Study, facts: Facts) -> dict[str, Any]:
        """Return all facts if a study reads streams or their total gains, else the general facts.

        Thus a new title or privacy level does not remake the tables of every study.
        """
        points = self.points[study.name].values()
        read = {path for point in points for path in point.inputs.values()}
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
    def _named_by_jobs(self) -> Mapping[str, Mapping[str, frozenset[str]]]:
        """Modules that each job may import by name, so that no import leads to them.

        A point that names none may play any algorithm of dpol.
        """
        return {
            study.name: {
                label: frozenset(it for point in points for it in point.code or EVERY_ALGORITHM)
                for label, points in self.jobs[study.name].items()
            }
            for study, _ in self.studies
        }

    @cached_property
    def packages(self) -> Mapping[str, Package]:
        """Packages other than dpol that the run needs, by the name of import.

        Raises:
            ConfigError: a package is not installed where jobs find it.
        """
        jobs = [
            [study.module, *named]
            for study, _ in self.studies
            for named in self._named_by_jobs[study.name].values()
        ]
        tops = _foreign(module for job in jobs for module in job)
        return {top: self._package(top) for top in tops}

    @cached_property
    def _package(self) -> Callable[[str], Package]:
        return cache(package_of)  # a package is hashed once for a plan

    def code_of_script(self, name: str) -> Code:
        """Return the code of the job of a script that calls no study."""
        return Code(modules=reach(_imports_of(name)))

    def code_of_jobs(self, study: Study) -> dict[str, Code]:
        """Return the code of each job of a study, by label."""
        named_by = self._named_by_jobs[study.name]
        every = {
            named: self._code("study_point", [study.computing], named)
            for named in {*named_by.values()}
        }
        return {label: every[named] for label, named in named_by.items()}

    def code_of_results(self, study: Study) -> Code:
        """Return the code of a study's result tables."""
        called = [study.module, study.collecting]
        return self._code("study_results", called, self._named_by_study(study), [study.columns])

    def code_of_shown(self, study: Study) -> Code:
        """Return the code of the figures and tables of a study."""
        called, files = [study.module, study.showing], [study.columns, load_study(MAIN).columns]
        return self._code("study_shown", called, self._named_by_study(study), files)

    def code_of_page(self) -> Code:
        """Return the code of the report."""
        every = [study for study, _ in self.studies]
        # It reads the whole config, and a config may name every study and algorithm.
        modules = reach(
            [
                *_imports_of("render_report"),
                *(study.showing for study in every),
                *(f"{package}.study" for package in PACKAGES.values()),
                *EVERY_ALGORITHM,
            ]
        )
        if self.packages:
            modules |= every_module("checks", "cli", "plan")
        return Code(
            modules=modules,
            files=_ours(study.columns for study in every),
            packages=tuple(self.packages.values()),
        )

    def _named_by_study(self, study: Study) -> frozenset[str]:
        """Modules that the jobs of a study's tables and figures may import by name."""
        return frozenset(EVERY_ALGORITHM).union(*self._named_by_jobs[study.name].values())

    def _code(
        self,
        script: str,
        called: Sequence[str],
        named: Iterable[str],
        files: Iterable[Path] = (),
    ) -> Code:
        """Return the code of a job.

        Args:
            script: name of its script.
            called: modules of its study that it imports by name.
            named: modules that it may import by name if it reads the registry of algorithms.
            files: files of studies that it reads.
        """
        modules = reach(called)
        if REGISTRY in modules:
            modules |= reach(named)
        tops = _foreign([*called, *named])
        if tops:  # dpol does not read what other packages import
            shows = ["show"] if script == "study_point" else []
            modules |= every_module("checks", "cli", "plan", "report", *shows)
        modules |= reach(_imports_of(script))
        if script == "study_shown":
            modules |= reach([load_study(MAIN).module])
        return Code(
            modules=modules,
            files=_ours(files),
            packages=tuple(self._package(top) for top in tops),
        )

    @property
    def tables_read(self) -> list[str]:
        """Tables to clean: the counts, and the capacities if they are in a second table."""
        return [self.config.raw_file, *self.config.dataset.capacity_files]

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
        """Check that no other import of the rules into the workflow writes the same files.

        Args:
            others: the plans of the other imports, by name.

        Raises:
            ConfigError: two imports have the same run, or different tables in the same file.
        """
        for name, other in others.items():
            if other.folder == self.folder:
                raise ConfigError(
                    f"{self.place}: run = {self.config.run}: module {name} writes to {self.folder}"
                    " too; give each module its own run"
                )
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
                f"{self.folder}: not as the jobs wrote them: {', '.join([*names[:10], *more])};"
                " move or delete these files, and run snakemake again"
            )

    def asked_anew(self, log: str, params: Mapping[str, Any]) -> list[str] | None:
        """Return what a job is asked otherwise than it answered; None if it left no note.

        Args:
            log: path of its log.
            params: what it is asked.
        """
        note = self._notes.get(note_of(Path(log)))
        return None if note is None else asked_anew(note, asked(params), self._noted)

    # --- What is said ---

    @property
    def benchmarks(self) -> list[str]:
        """Files with the times of this run's jobs.

        They include the fetching of a table that exists by now. Files of earlier configs may be in
        the same folder.
        """
        source = self.config.dataset.source
        sections = [
            section for study, block in self.studies for section in self.sections(study, block)
        ]
        single = {
            "fetch_dataset": bool(self.fetched),
            "simulate_dataset": source.kind == "simulated",
            "clean_panel": source.kind != "gains",
            **{f"{study.name}_results": True for study, _ in self.studies},
            **{rule_of_section(section): True for section in sections},
        }
        several = {"build_stream": list(self.config.played)}
        several |= {f"{name}_point": list(jobs) for name, jobs in self.jobs.items()}
        names = [rule for rule, is_there in single.items() if is_there]
        names += [f"{rule}/{label}" for rule, labels in several.items() for label in labels]
        return [f"{self.folder}/benchmarks/{name}.tsv" for name in sorted(names)]

    @property
    def done(self) -> str:
        """Message at the end of a run: what to open."""
        lines = [f"Done: {self.folder}/report/index.html"]
        lines += [f"{kind}: {self.folder}/{kind.lower()}" for kind in ("Tables", "Figures")]
        lines += [f"{self.folder}: {HOLDS_RAW_COUNTS}"] if self.config.dataset.private else []
        return "\n".join(lines)

    def _below(self, paths: Mapping[str, str | Sequence[str]]) -> Files:
        """Return the files below the folder of the run."""
        return {
            name: f"{self.folder}/{value}"
            if isinstance(value, str)
            else [f"{self.folder}/{path}" for path in value]
            for name, value in paths.items()
        }


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
    config = parse_experiment(raw, place, texts or None).config
    if not module:  # a rule of an importing workflow may make the table
        check_local_table(config)
    check_writable(f"results/{config.run}")
    if texts == [raw]:
        text = paths[0].read_text(encoding="utf-8")
    else:
        text = yaml.safe_dump(dict(raw), sort_keys=False, allow_unicode=True)
    name = " + ".join(path.name for path in paths) or f"module {module}"
    return Plan(config=config, place=place, name=name, text=text)


@cache
def _imports_of(script: str) -> frozenset[str]:
    """Return the modules of dpol that a script of the workflow imports."""
    return imports_of(pipeline() / f"workflow/scripts/{script}.py")


def _foreign(modules: Iterable[str]) -> list[str]:
    """Return the names of packages other than dpol, sorted."""
    return sorted({module.partition(".")[0] for module in modules if is_foreign(module)})


def _ours(files: Iterable[Path]) -> tuple[Path, ...]:
    """Return the files of dpol, sorted; those of another package are in its hash."""
    return tuple(sorted({file for file in files if file.is_relative_to(ROOT)}))


def _jobs_of(points: Mapping[str, Point], most: int) -> Iterator[tuple[str, Sequence[Point]]]:
    """Yield the label and the points of each job; a label such as `a+1` is the first and the rest.

    Args:
        points: points of a study, by label and in order.
        most: largest number of points in a job.

    >>> points = {label: Point(settings={}, seconds=8.0) for label in "abc"}
    >>> points["d"] = Point(settings={}, inputs={"stream": "x"}, seconds=1.0)
    >>> [label for label, _ in _jobs_of(points, 8)]
    ['a+1', 'c', 'd']
    """
    job: dict[str, Point] = {}
    for label, point in points.items():
        if job and (len(job) == most or not _is_short([*job.values(), point])):
            yield _label_of(job), [*job.values()]
            job = {}
        job[label] = point
    if job:
        yield _label_of(job), [*job.values()]


def _is_short(points: Sequence[Point]) -> bool:
    """Return whether one job may compute all points: they read the same files, and are fast."""
    expected, first = sum(point.seconds for point in points), points[0].inputs
    return expected <= SHORT_SECONDS and all(point.inputs == first for point in points)


def _label_of(job: Mapping[str, Point]) -> str:
    first, *others = job
    return f"{first}+{len(others)}" if others else first


def rule_of_section(section: Section) -> str:
    """Return the name of the rule that writes the files of a section."""
    return f"{section.name.replace('-', '_')}_shown"

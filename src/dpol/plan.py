"""The plan of a run, from its config: jobs, hashes of code, and what to fetch.

The rules of the workflow read a `Plan` and decide nothing themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from dpol.config.experiment import check_local_table, parse_experiment
from dpol.config.models import Config
from dpol.core.errors import ConfigError, DataError
from dpol.core.files import check_writable, sha256
from dpol.core.words import listed
from dpol.core.yaml_files import read_yaml
from dpol.data.query import Query, must_fetch, record_of
from dpol.reruns.code_hashes import packages_of
from dpol.reruns.notes import unanswered
from dpol.studies.study import Job, Study


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A checked config, as the rules of the workflow use it.

    Args:
        config: config of the run.
        place: origin of the config, for messages.
        name: names of its files, for the report.
        text: the config as YAML, whole; the unchanged file if it is the only one, nothing overrides
            it, and it takes nothing from another config.
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
    def jobs(self) -> Mapping[str, Mapping[str, Job[Any]]]:
        """Jobs of each study, by study and place."""
        facts = self.config.facts
        return {study.name: study.jobs(block, facts) for study, block in self.studies}

    # --- What a job depends on, besides its inputs ---

    @property
    def code(self) -> list[str]:
        """The modules that jobs import by name, each once."""
        return code_of(chain.from_iterable(each.values() for each in self.jobs.values()))

    @cached_property
    def packages(self) -> Mapping[str, tuple[str, str]]:
        """Name and version of packages other than dpol that the run needs, by name of import.

        Raises:
            ConfigError: a package is not installed where jobs find it.
        """
        return packages_of(*self.code)

    def contents(self, *files: str, made: Callable[[str], bool]) -> list[str | None]:
        """Return checksums of local tables, which a job compares with what it reads.

        A fetched table may be gone: then the record of its download tells its checksum.

        Args:
            files: the tables.
            made: whether a job makes a table; it has None then, for the job is not yet asked.
        """
        return [
            None if made(file) and file != self.fetched else self._checksum(Path(file))
            for file in map(str, files)
        ]

    def _checksum(self, file: Path) -> str | None:
        if file.exists():
            return sha256(file)
        return record_of(file).get("sha256")

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
    def query(self) -> Query:
        """Query of the web source."""
        return Query(self.config.dataset, self.wanted_groups)

    @property
    def must_fetch(self) -> bool:
        """Whether the table is missing, or was fetched by another query."""
        return bool(self.fetched) and must_fetch(self.query, Path(self.fetched))

    def refuse_twins(self, others: Mapping[str, Plan]) -> None:
        """Check that no other import of the rules into the workflow fetches another table.

        Args:
            others: the plans of the other imports, by name.

        Raises:
            ConfigError: two imports have different tables in the same file.
        """
        for name, other in others.items():
            together = other.fetched == self.fetched and self.must_fetch
            if together and other.query.soql != self.query.soql:
                raise ConfigError(
                    f"{self.place}: dataset.source.file = {self.fetched}: module {name} fetches"
                    " other groups, columns or periods into it; give each module its own file"
                )

    # --- What is there already ---

    def refuse(self, kept: Mapping[str, str], rules: Mapping[str, str]) -> None:
        """Check that jobs that do not run, and left files, answer the plan with files as written.

        Args:
            kept: digest of what the plan asks of each of these jobs, by name.
            rules: the rule of each of them.

        Raises:
            DataError: some do not.
        """
        folder = Path(self.folder)
        wrong = unanswered(folder, kept)
        others = [name for name in wrong if name in kept]
        if files := [it for it in wrong if it not in kept]:
            raise DataError(
                f"{folder}: changed since the jobs wrote them: {listed(files, 10)}; move or delete"
                " these files, and run snakemake again"
            )
        if others:
            again = dict.fromkeys(rules[name] for name in others)
            raise DataError(
                f"{folder}: not as this config asks, and Snakemake would leave it so:"
                f" {listed(others, 9)}; leave out flags that skip jobs, or add"
                f" --forcerun {' '.join(again)}"
            )


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
    texts: list[Any] = [read_yaml(path) for path in paths]
    if len(texts) == 1 and isinstance(texts[0], dict):
        over = [str(key) for key in raw if raw[key] != texts[0].get(key)]
        place += f" with --config {', '.join(over)}" * bool(over)
    config = parse_experiment(raw, place)
    if not module:  # a rule of an importing workflow may make the table
        check_local_table(config)
    check_writable(f"results/{config.run}")
    if _names_another(raw):
        text = yaml.safe_dump(config.whole(), sort_keys=False, allow_unicode=True)
    elif texts == [raw]:
        text = paths[0].read_text(encoding="utf-8")
    else:
        text = yaml.safe_dump(dict(raw), sort_keys=False, allow_unicode=True)
    here = Path.cwd()
    named = [it.relative_to(here) if it.is_relative_to(here) else it.name for it in paths]
    name = " + ".join(map(str, named)) or f"module {module}"
    return Plan(config=config, place=place, name=name, text=text)


def _names_another(raw: object) -> bool:
    """Return whether a block of a config takes keys from another config."""
    return isinstance(raw, Mapping) and ("like" in raw or any(map(_names_another, raw.values())))


def code_of(jobs: Iterable[Job[Any]]) -> list[str]:
    """Return the modules that jobs import by name, each once."""
    return sorted({module for job in jobs for module in job.code})


def inputs_of(jobs: Iterable[Job[Any]]) -> dict[str, list[str]]:
    """Return the files below results/<run>/ that jobs read, each once, in lists by name."""
    files: dict[str, dict[str, None]] = {}
    for job in jobs:
        for name, path in job.inputs.items():
            files.setdefault(name, {})[path] = None
    return {name: list(paths) for name, paths in files.items()}

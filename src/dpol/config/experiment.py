"""A checked config together with the algorithms it names: the grid of jobs.

This is the one place that knows both the config models and the registry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dpol.config.errors import (
    Problem,
    did_you_mean,
    dotted,
    nearest,
    problems_of,
    raise_problems,
)
from dpol.config.models import WHOLE, Config
from dpol.core.errors import ConfigError
from dpol.core.yaml_files import read_yaml
from dpol.experts.interface import CentralAlgorithm, Member
from dpol.experts.registry import REGISTRY, make_members
from dpol.noise import ISOTROPIC, NO_NOISE, NOISES
from dpol.privacy.guarantee import Model
from dpol.studies.hospitals.settings import Comparison, Suite
from dpol.studies.registry import load_studies
from dpol.studies.study import Study


@dataclass(frozen=True)
class Job:
    """One run: a suite on a stream at a privacy level, for one block of replicates."""

    stream: str
    suite: str
    noise: str
    level: str
    block: int

    @property
    def name(self) -> str:
        """Its file below results/<run>/runs/, without suffix."""
        return f"{self.stream}/{self.suite}/{self.noise}/{self.level}/block-{self.block}"


@dataclass(frozen=True)
class Experiment:
    """A config whose rules all hold, and the algorithms of its suites."""

    config: Config
    members: Mapping[str, tuple[Member, ...]]

    def model(self, suite: str) -> Model:
        """The privacy model of a suite; all its algorithms share it."""
        return self.members[suite][0].algorithm.model

    def studies(self) -> list[tuple[Study, Any]]:
        """The studies that the config asks for, each with its block."""
        found = ((study, self.config.block(name)) for name, study in load_studies().items())
        return [(study, block) for study, block in found if block is not None]

    def central_noise(self) -> dict[str, str]:
        """Each central algorithm's own noise, by label; `none` if it has none.

        The `noise` of their runs is local noise, which they do not see.
        """
        return {
            member.label: member.algorithm.noise
            for members in self.members.values()
            for member in members
            if isinstance(member.algorithm, CentralAlgorithm)
        }

    def replicates(self, block: int) -> range:
        """The numbers of the replicates in a block."""
        size = self._block_size
        return range(block * size, min((block + 1) * size, self.config.replicates))

    def count_jobs(self) -> int:
        """The number of all runs."""
        settings = sum(len(self._settings(suite)) for suite in self.config.suites)
        return len(self.config.streams) * settings * self._blocks

    def jobs(self) -> Iterator[Job]:
        """All runs, in the order of the config."""
        blocks = range(self._blocks)
        for stream in self.config.streams:
            for suite in self.config.suites:
                for noise, level in self._settings(suite):
                    for block in blocks:
                        yield Job(stream, suite, noise, level, block)

    @property
    def _blocks(self) -> int:
        return -(-self.config.replicates // self._block_size)

    @property
    def _block_size(self) -> int:
        return self.config.block_replicates or self.config.replicates

    def _settings(self, suite: str) -> list[tuple[str, str]]:
        levels = self.config.privacy.levels
        if self.model(suite) == "none":
            return [(NO_NOISE, level) for level, mu in levels.items() if mu == float("inf")]
        noises = self.config.suites[suite].noises
        return [(noise, level) for noise in noises for level in levels]


def load_experiment(path: Path | str) -> Experiment:
    """Read and check a config file.

    Args:
        path: a YAML file; paths in it are relative to the working folder.

    Raises:
        ConfigError: the file cannot be read, or breaks rules; all are listed.

    >>> experiment = load_experiment("config/demo.yaml")  # in the project's folder
    >>> experiment.config.run, len(list(experiment.jobs())) > 10
    ('demo', True)
    """
    path = Path(path)
    return parse_experiment(read_yaml(path), str(path))


def check_local_table(config: Config) -> None:
    """Refuse a `local` source whose table is not there.

    Raises:
        ConfigError: no such file.
    """
    source = config.dataset.source
    if source.kind in ("local", "gains") and not Path(source.file).exists():
        raise ConfigError(
            f"dataset.source.file = {source.file}: no such file; put the table of run"
            f" {config.run} there, or try config/demo.yaml, which needs none"
        )


def parse_experiment(raw: object, place: str) -> Experiment:
    """Check a config that was read from `place`.

    Raises:
        ConfigError: rules are broken; the text lists each key, its value and what is allowed.
    """
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{place}: holds no keys; config/demo.yaml shows a whole config")
    members, problems = _members(raw.get("suites"))
    try:
        config = WHOLE.model_validate(dict(raw))
    except ValidationError as error:
        raise_problems(place, [*problems_of(error, WHOLE, raw), *problems])
        raise
    if not problems:
        problems += _cross_problems(config, members)
    problems += [Problem(dotted(key), value, allowed) for key, value, allowed in config.problems()]
    raise_problems(place, problems)
    return Experiment(config, members)


def _members(suites: object) -> tuple[dict[str, tuple[Member, ...]], list[Problem]]:
    """The algorithms of every suite, and what is wrong with their names and parameters."""
    members: dict[str, tuple[Member, ...]] = {}
    problems: list[Problem] = []
    for label, suite in suites.items() if isinstance(suites, Mapping) else ():
        specs = suite.get("algorithms") if isinstance(suite, Mapping) else None
        made: list[Member] = []
        for index, spec in enumerate(specs if isinstance(specs, list) else ()):
            key = f"suites.{label}.algorithms[{index}]"
            try:
                made += make_members(spec)
            except ValueError as error:
                name = spec.get("algorithm") if isinstance(spec, Mapping) else spec
                hint = did_you_mean(name, REGISTRY) if str(name) not in REGISTRY else ""
                problems.append(Problem(key, spec, f"{error}{hint}"))
        members[str(label)] = tuple(made)
    return members, problems


MOST_JOBS = 20_000
"""Jobs of one config; Snakemake plans about 1,000 in a second, and each takes a file or more."""


def _cross_problems(config: Config, members: Mapping[str, tuple[Member, ...]]) -> Iterator[Problem]:
    if (count := Experiment(config, members).count_jobs()) > MOST_JOBS:
        allowed = f"makes {count:,} jobs, at most {MOST_JOBS:,}; take larger blocks"
        yield Problem("block_replicates", config.block_replicates, allowed)
    owner: dict[str, str] = {}
    for label, suite in config.suites.items():
        yield from _suite_problems(config, label, suite, members[label])
        for member in members[label]:
            if member.label in owner:
                allowed = f"is already played by suite {owner[member.label]}; give it a label"
                yield Problem(f"suites.{label}.algorithms", member.label, allowed)
            owner[member.label] = label
    for index, name in enumerate(config.report.algorithms):
        if name not in owner:
            yield Problem(f"report.algorithms[{index}]", name, _not_played(name, members))
    families = {member.family: None for suite in members.values() for member in suite}
    if config.report.envelope not in families:
        allowed = f"no suite plays this family{nearest(config.report.envelope, families)}"
        if "envelope" not in config.report.model_fields_set:
            allowed += "; play it in a suite, or set report.envelope to a family that is played"
        yield Problem("report.envelope", config.report.envelope, allowed)
    local = {
        noise
        for label, suite in config.suites.items()
        if members[label][0].algorithm.model == "local"
        for noise in suite.noises
    }
    if local and config.report.noise not in local:
        allowed = f"no local suite uses it; used: {', '.join(sorted(local)) or 'none'}"
        yield Problem("report.noise", config.report.noise, allowed)
    if config.comparison is not None:
        yield from _comparison_problems(config, config.comparison, members)


def _not_played(name: str, members: Mapping[str, tuple[Member, ...]]) -> str:
    """Why the report cannot show an algorithm, and what it can show."""
    played = [member for suite in members.values() for member in suite]
    own = [member.label for member in played if member.family == name]
    if own:
        return (
            f"is not a label but a family; labels in it: {', '.join(own)}; report.envelope gives"
            " the best of them a column"
        )
    return f"no suite plays it{nearest(name, [member.label for member in played])}"


def _comparison_problems(
    config: Config, comparison: Comparison, members: Mapping[str, tuple[Member, ...]]
) -> Iterator[Problem]:
    """Every system, and the learners it is judged by, must be played under its noise."""
    played = [
        (member, noise)
        for label, suite in config.suites.items()
        for member in members[label]
        if member.algorithm.model != "none"
        for noise in suite.noises
    ]
    systems = {"paper": comparison.paper, "ours": comparison.ours}
    systems |= {f"ablations[{index}]": it for index, it in enumerate(comparison.ablations)}
    for place, system in systems.items():
        key, noise = f"comparison.{place}", system.noise
        found = [member for member, played_with in played if played_with == noise]
        if system.algorithm not in (labels := [member.label for member in found]):
            allowed = f"no private suite plays it with {noise} noise"
            allowed += did_you_mean(system.algorithm, labels)
            yield Problem(f"{key}.algorithm", system.algorithm, allowed)
        for family in dict.fromkeys((system.learners, comparison.paper.learners)):
            if family not in {member.family for member in found}:
                allowed = f"no private suite plays this family with {noise} noise"
                yield Problem(f"{key}.learners", family, allowed)
        if noise in NOISES and not NOISES[noise].none_at_infinity:
            yield Problem(f"{key}.noise", noise, "must have no noise at the level .inf")


def _suite_problems(
    config: Config, label: str, suite: Suite, members: tuple[Member, ...]
) -> Iterator[Problem]:
    models: dict[str, Any] = {member.label: member.algorithm.model for member in members}
    model = members[0].algorithm.model
    if config.dataset.source.kind == "gains":
        for member in members:
            own = member.algorithm.noise if isinstance(member.algorithm, CentralAlgorithm) else ""
            if own in NOISES and NOISES[own].needs_capacities:
                allowed = f"must not have the noise {own} because dataset.source.kind is"
                allowed += " gains: its gains have no capacities"
                yield Problem(f"suites.{label}.algorithms", member.label, allowed)
    if len(set(models.values())) > 1:
        found = ", ".join(f"{name} ({kind})" for name, kind in models.items())
        yield Problem(
            f"suites.{label}.algorithms",
            found,
            "must all be local, all central or all without privacy",
        )
    constant = [member.label for member in members if member.algorithm.constant_noise]
    if constant and not all(NOISES[noise].constant for noise in suite.noises):
        names = ", ".join(name for name, noise in NOISES.items() if noise.constant)
        allowed = f"must be [{names}], because {', '.join(constant)} needs constant noise"
        yield Problem(f"suites.{label}.noises", suite.noises, allowed)
    if model == "central" and suite.noises != [ISOTROPIC.name]:
        yield Problem(
            f"suites.{label}.noises",
            suite.noises,
            f"must be [{ISOTROPIC.name}] in the central model",
        )
    elif model == "none" and float("inf") not in config.privacy.levels.values():
        yield Problem(
            "privacy.levels",
            dict(config.privacy.levels),
            f"must have a level .inf, because suite {label} has no privacy",
        )

"""Rules across the keys of a config: functions that yield what breaks a rule.

Models check single keys. `Dataset.problems` checks how the keys of the table fit together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from dpol.config.models import Config
from dpol.core.settings import Problem
from dpol.core.words import nearest
from dpol.experts.interface import CentralAlgorithm, Member, can_read
from dpol.experts.registry import REGISTRY, make_members
from dpol.noise import CAPACITY, CENTRAL_NOISES, ISOTROPIC, NOISES, find_noise
from dpol.show.entries import ENTRIES
from dpol.studies.games.names import BEST_LINEAR, REFERENCE_TOTALS

Rule = Callable[[Config], Iterator[Problem]]

OF_GAINS = "because dataset.source.kind is gains"
NOT_OF_GAINS = f"must not be given {OF_GAINS}"


def dataset(config: Config) -> Iterator[Problem]:
    """Yield the problems of the table and of its questions."""
    return config.dataset.problems(
        {f"questions.{label}" if label else "gain": gain for label, gain in config.gains.items()},
        moved="count_sensitivity" in config.privacy.model_fields_set,
    )


def groups(config: Config) -> Iterator[Problem]:
    """Refuse streams of unknown groups."""
    source, columns = config.dataset.source, config.dataset.columns
    for label, stream in config.streams.items():
        place = ("streams", label, "groups")
        if (columns is None or columns.group is None) and stream.groups != ["all"]:
            allowed = "must be [all] because dataset.columns.group is not given"
            yield Problem(place, stream.groups, allowed)
        if source.kind == "simulated" and (
            unknown := sorted(set(stream.groups) - set(source.hospitals))
        ):
            allowed = f"must be among dataset.source.hospitals: {', '.join(source.hospitals)}"
            yield Problem(place, unknown, allowed)


def levels(config: Config) -> Iterator[Problem]:
    """Require a level without noise if a suite has no privacy."""
    reasons = [
        f"suite {label} has no privacy"
        for label, suite in config.suites.items()
        if any(member.algorithm.model == "none" for member in suite.members)
    ]
    if reasons and math.inf not in config.privacy.levels:
        allowed = f"must have a level .inf because {' and '.join(reasons)}"
        yield Problem(("privacy", "levels"), config.privacy.levels, allowed)


def gains(config: Config) -> Iterator[Problem]:
    """Refuse keys that need people or capacities if the table holds gains."""
    if config.dataset.source.kind != "gains":
        return
    if "count_sensitivity" in config.privacy.model_fields_set:
        allowed = f"{NOT_OF_GAINS}: use dataset.source.sensitivity"
        place = ("privacy", "count_sensitivity")
        yield Problem(place, config.privacy.count_sensitivity, allowed)
    if config.privacy.unit.weeks > 1:
        allowed = f"must be 1 {OF_GAINS}: its sensitivity is for one round"
        yield Problem(("privacy", "unit", "weeks"), config.privacy.unit.weeks, allowed)
    messages = config.block("labels")
    if messages is not None and messages.patients_per_week is not None:
        allowed = f"{NOT_OF_GAINS}: its gains have no people"
        yield Problem(("labels", "patients_per_week"), messages.patients_per_week, allowed)
    for label, suite in config.suites.items():
        for noises in dict.fromkeys(noises for noises, _ in suite.entries):
            for noise in noises:
                if find_noise(noise).needs_capacities:
                    allowed = f"must not contain {noise} {OF_GAINS}: gains have no capacities"
                    yield Problem(("suites", label, "noises"), [*noises], allowed)


def questions(config: Config) -> Iterator[Problem]:
    """Require `gain` or `questions`, and a label for each game."""
    several = config.questions is not None
    if several and "gain" in config.model_fields_set:
        asked_once = config.gain.model_dump(exclude_unset=True)
        yield Problem(("gain",), asked_once, "must not be given together with questions")
    if several and len(config.gains) < 2:
        allowed = "must be at least two; use gain for a single question"
        yield Problem(("questions",), list(config.gains), allowed)


def files(config: Config) -> Iterator[Problem]:
    """Refuse labels that name the same files, also where a file system ignores case."""
    games = [f"{stream}-{it}" for stream in config.streams for it in config.questions or ()]
    named: Mapping[tuple[str, ...], Collection[str]] = {
        ("streams",): config.streams,
        ("questions",): games,
        ("suites",): config.suites,
    }
    for place, labels in named.items():
        if len({label.lower() for label in labels}) < len(labels):
            allowed = "must name different files, also where a file system ignores case"
            yield Problem(place, [*labels], f"{allowed}; change a label")


def longest_stay(config: Config) -> Iterator[Problem]:
    """Require a memory that covers the longest stay."""
    chosen, weeks = config.privacy.memory, config.privacy.unit.weeks
    if isinstance(chosen, tuple) and weeks > 1 and chosen[1] < max(chosen[0], 0):
        allowed = (
            "must have b >= max(a, 0) because privacy.unit.weeks is above 1: otherwise a person who"
            " changes hospital during the stay is not covered"
        )
        yield Problem(("privacy", "memory"), chosen, allowed)


def suites(config: Config) -> Iterator[Problem]:
    """Require one model in each suite, and noises that its algorithms can use."""
    for label, suite in config.suites.items():
        made = suite.members
        models = {member.label: member.algorithm.model for member in made}
        if len(set(models.values())) > 1:
            mixed = ", ".join(f"{name} ({model})" for name, model in models.items())
            allowed = "must all be local, all central or all without privacy"
            yield Problem(("suites", label, "algorithms"), mixed, allowed)
        single = [member.label for member in made if member.algorithm.one_round]
        if single and config.privacy.unit.weeks > 1:
            allowed = (
                f"must not contain {', '.join(single)} because privacy.unit.weeks is"
                f" {config.privacy.unit.weeks}: it protects a person in one week only"
            )
            yield Problem(("suites", label, "algorithms"), single, allowed)
        alike: dict[tuple[str, ...], list[Member]] = {}
        for noises, entry in suite.entries:
            alike.setdefault(noises, []).extend(make_members(entry))
        for noises, own in alike.items():
            for allowed in unfit_noises(own, [*noises]):
                yield Problem(("suites", label, "noises"), [*noises], allowed)


def unfit_noises(made: Sequence[Member], noises: Sequence[str]) -> Iterator[str]:
    """Yield what the noises of a suite must be for its algorithms, and are not."""
    models = {member.algorithm.model for member in made}
    constant = [member.label for member in made if member.algorithm.constant_noise]
    if constant and not all(find_noise(noise).constant for noise in noises):
        known = ", ".join(name for name, noise in NOISES.items() if noise.constant)
        yield f"must be [{known}] because {', '.join(constant)} needs constant noise"
    if "central" in models and not set(noises) <= set(CENTRAL_NOISES):
        yield f"must be among {', '.join(CENTRAL_NOISES)} in the central model"
    for noise in noises:
        memory = find_noise(noise).memory
        blind = {one.family for one in made if not can_read(one.algorithm.reads_noise, memory)}
        if blind and "local" in models:
            families = ", ".join(name for name in REGISTRY if name in blind)
            yield f"must not contain {noise}: no support for correlated noise in {families}"
    unscaled = [
        member.label
        for member in made
        if isinstance(member.algorithm, CentralAlgorithm) and not member.algorithm.scales_noise
    ]
    if unscaled and noises != [ISOTROPIC.name]:
        yield f"must be [{ISOTROPIC.name}] because {', '.join(unscaled)} has its own noise"


def noises_to_play(member: Member) -> list[str]:
    """Return the paper's noise and noise by capacity, or the first that an algorithm can read."""
    fit = [it for it in NOISES if not [*unfit_noises([member], [it])]]
    return [it for it in (ISOTROPIC.name, CAPACITY.name) if it in fit] or fit[:1]


def labels(config: Config) -> Iterator[Problem]:
    """Require a different label for each algorithm, other than the names of references."""
    taken = dict.fromkeys([BEST_LINEAR, *REFERENCE_TOTALS], "the name of a reference")
    for label, suite in config.suites.items():
        for member in suite.members:
            name = member.label.lower()
            if name in taken:
                allowed = f"is already {taken[name]}; give it a label"
                yield Problem(("suites", label, "algorithms"), member.label, allowed)
            taken[name] = f"played by suite {label}"
            entry = ENTRIES["algorithms"].get(name)
            if entry and entry.plays:
                (meant,) = make_members(entry.plays)
                if meant.algorithm != member.algorithm:
                    allowed = f"is the name of {dict(entry.plays)}; give it another label"
                    yield Problem(("suites", label, "algorithms"), member.label, allowed)


def report(config: Config) -> Iterator[Problem]:
    """Refuse names in the report that no suite plays."""
    played = [member for suite in config.suites.values() for member in suite.members]
    for index, name in enumerate(config.report.algorithms):
        if name not in (known := [member.label for member in played]):
            allowed = f"no suite plays it{nearest(name, known)}"
            if labels := [member.label for member in played if member.family == name]:
                allowed = f"is a family, not a label; use one of {', '.join(labels)}"
            yield Problem(("report", "algorithms", index), name, allowed)


def jobs(config: Config) -> Iterator[Problem]:
    """Require that the block of each study asks for a job, in a config without other problems."""
    for study, block in config.studies():
        if not study.jobs(block, config.facts):
            asked = block.model_dump(mode="json", exclude_unset=True)
            yield Problem(
                (study.name,), asked, "names nothing to compute; give it values, or delete it"
            )


OF_KEYS: tuple[Rule, ...] = (
    dataset,
    groups,
    gains,
    questions,
    files,
    longest_stay,
)
"""Rules that do not need the algorithms."""
OF_ALGORITHMS: tuple[Rule, ...] = (levels, suites, labels, report)
"""Rules that need every algorithm."""

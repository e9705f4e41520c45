"""Run all conformance checks on what a name stands for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from dpol.checks import CheckError, algorithms, noises
from dpol.checks.algorithms import MU, REPLICATES, random_stream
from dpol.core.arguments import check_kind, check_whole
from dpol.core.errors import in_one_line
from dpol.core.plugins import load_named, registered
from dpol.core.randomness import replicate_generators
from dpol.core.words import did_you_mean
from dpol.experts.games import bank_actions
from dpol.experts.interface import LearnerBank, Member
from dpol.experts.learners.alone import LearnerAlone
from dpol.experts.play import play_rounds
from dpol.experts.registry import (
    ALGORITHM_GROUP,
    LEARNER_GROUP,
    LEARNERS,
    REGISTRY,
    entry_of,
    make_members,
)
from dpol.noise import NOISES, Noise, find_noise, privatize
from dpol.noise.noises import NOISE_GROUP


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The result of a check.

    Args:
        check: title of the check.
        counterexample: what fails, with the remedy; empty if nothing fails.
        found: the verdict in words, if nothing fails: `holds`, perhaps with what an audit proved,
            or why it cannot tell.
    """

    check: str
    counterexample: str = ""
    found: str = "holds"

    @property
    def holds(self) -> bool:
        """Whether the check found no counterexample."""
        return not self.counterexample


def check(name: str, *, seed: int = algorithms.SEED) -> tuple[Verdict, ...]:
    """Run the conformance checks on an algorithm, a bank of learners or a noise.

    If the first one fails, the others do not run.

    Args:
        name: a name as in a config: registered, or `package.module:Class`. Parameters take their
            defaults.
        seed: root seed of the games of an algorithm, and of drawn settings.

    Raises:
        ValueError: no package registers the name, it cannot be imported or made, or it is no
            algorithm, learner or noise.

    >>> all(verdict.holds for verdict in check("isotropic"))
    True
    """
    verdicts: list[Verdict] = []
    for title, run in checks_of(name, seed):
        verdicts.append(verdict(title, run))
        if not verdicts[0].holds:  # it may end this process too
            break
    return tuple(verdicts)


def checks_of(
    name: str, seed: int = algorithms.SEED
) -> Iterator[tuple[str, Callable[[], str | None]]]:
    """Yield the checks of a named object, each with a call that runs it."""
    check_whole("seed", seed, 0)
    check_kind("name", name, str, "such as 'rw-ftpl' or 'package.module:Class'")
    named = load_named(name, name) if all(name.partition(":")[::2]) else None
    name = name if named is not None else _known(name)
    if isinstance(named, Noise) or name in NOISES or name in registered(NOISE_GROUP):
        noise = find_noise(name)
        for title, of_noise in noises.CHECKS.items():
            yield title, partial(of_noise, noise, seed)
    else:
        members = make_members(name)
        for title, run in algorithms.checks_of(members[0].algorithm).items():
            yield title, partial(_each, run, members, seed)
        bank = entry_of("algorithm", name).make(name, {})
        if isinstance(bank, LearnerBank):
            yield "learners play their columns", partial(learners_play_their_columns, bank)


# ---- banks of learners, and how checks run -------------------------------------------------------


def learners_play_their_columns(bank: LearnerBank[Any]) -> None:
    """Check that each learner alone plays its column of the bank.

    Each must also pass the checks of algorithms when it plays alone: pickling among them.
    """
    noisy = privatize(random_stream(), "isotropic", MU, seed=1, replicates=REPLICATES)
    generators = replicate_generators(1, ("checks",), range(REPLICATES), "learner")
    played, shape = bank_actions(bank, noisy), (REPLICATES, noisy.n_rounds, len(bank.labels))
    if played.shape != shape:
        raise CheckError(
            f"its actions have the shape {played.shape}, not {shape}; return one for each label"
        )
    for place, label in enumerate(bank.labels):
        for alone in (LearnerAlone(bank, place), LearnerAlone(*bank.single(place))):
            if alone.label != label:
                raise CheckError(f"single({place}) has the label {alone.label}, not {label}")
            if (play_rounds(alone, noisy, generators) != played[..., place]).any():
                raise CheckError(
                    f"{label} plays a different game alone than in the bank; make single({place})"
                    f" and column {place} agree"
                )


def _known(name: str) -> str:
    """Return the registered name for a name; `-` and `_` are the same.

    Raises:
        ValueError: no package registers it.
    """
    groups = NOISE_GROUP, ALGORITHM_GROUP, LEARNER_GROUP
    theirs = [foreign for group in groups for foreign in registered(group)]
    known = [*REGISTRY, *LEARNERS, *NOISES, *theirs]
    same = [each for each in known if each.replace("_", "-") == name.replace("_", "-")]
    if not same:
        near = did_you_mean(name, known)
        raise ValueError(
            f"{name!r} is not an algorithm, a learner or a noise; install its package"
            f" (pip install -e FOLDER), or write package.module:Class{near}"
        )
    return name if name in same else same[0]


def _each(run: algorithms.Check, members: tuple[Member, ...], seed: int) -> str:
    found = {}
    for member in members:
        try:
            found[member.label] = run(member, seed) or "holds"
        except CheckError as broken:
            raise CheckError(f"{member.label}: {broken}" if len(members) > 1 else broken) from None
    if len({*found.values()}) == 1:
        return found[members[0].label]
    return "; ".join(f"{label}: {words}" for label, words in found.items())


def verdict(title: str, run: Callable[[], str | None]) -> Verdict:
    """Run a check of `checks_of` and return its verdict."""
    try:
        with np.errstate(invalid="raise"):
            return Verdict(title, found=run() or "holds")
    except CheckError as broken:
        return Verdict(title, str(broken))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # any error of foreign code is a counterexample
        return Verdict(title, in_one_line(error))

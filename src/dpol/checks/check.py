"""Run all conformance checks on what a name stands for."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, pairwise
from typing import Any

import numpy as np

from dpol.checks import CheckError, algorithms
from dpol.checks.algorithms import MU, REPLICATES, random_stream
from dpol.checks.releases import (
    law_says_what_it_is,
    record_covers_what_is_declared,
    releases_are_as_declared,
    settings_of,
)
from dpol.core.arguments import check_kind, check_whole
from dpol.core.errors import in_one_line
from dpol.core.plugins import load_named, registered
from dpol.core.randomness import replicate_generators
from dpol.core.words import did_you_mean
from dpol.data.stream import GainStream
from dpol.data.synthetic import largest_changes
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

    Args:
        name: a name as in a config: registered, or `package.module:Class`. Parameters take their
            defaults.
        seed: root seed of the games of an algorithm.

    Raises:
        ValueError: no package registers the name, it cannot be imported or made, or it is no
            algorithm, learner or noise.

    >>> all(verdict.holds for verdict in check("isotropic"))
    True
    """
    return tuple(verdict(title, run) for title, run in checks_of(name, seed))


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
        yield "the scale is positive", partial(scale_is_positive, noise)
        yield "a smaller mu means more noise", partial(less_mu_is_more_noise, noise)
        yield "the scale does not depend on gains", partial(scale_is_public, noise, seed)
        compared = partial(releases_keep_what_is_said, noise, seed)
        yield "releases are as declared, and the record covers them", compared
    else:
        members = make_members(name)
        for title, run in algorithms.checks_of(members[0].algorithm).items():
            yield title, partial(_each, run, members, seed)
        bank = entry_of("algorithm", name).make(name, {})
        if isinstance(bank, LearnerBank):
            yield "learners play their columns", partial(learners_play_their_columns, bank)


# ---- noises --------------------------------------------------------------------------------------

_LEVELS = 0.25, 0.5, 2.0


def _streams(noise: Noise) -> Iterator[GainStream]:
    """Yield streams of all kinds."""
    return (it.stream for it in islice(settings_of(noise, algorithms.SEED), 8))


def scale_is_positive(noise: Noise) -> None:
    """Check that the scale is (T, n), above 0, and the same everywhere if `constant` is set."""
    for stream in _streams(noise):
        for mu in _LEVELS:
            scale = np.asarray(noise.scale(stream, mu))
            if scale.shape != stream.gains.shape or not (np.isfinite(scale) & (scale > 0)).all():
                raise CheckError(
                    f"at mu = {mu:g} its scale has the shape {scale.shape} and begins with"
                    f" {scale.flat[0]:g}; it must be above 0, with the shape {stream.gains.shape}"
                )
            if noise.constant and np.ptp(scale) > 0:
                raise CheckError(
                    f"its scale varies at mu = {mu:g}; set constant=False or make it constant"
                )


def scale_is_public(noise: Noise, seed: int) -> None:
    """Check that the scale, which is public, does not depend on the gains.

    It is the same with a person at either place, and where all gains are empty or full.
    """
    for setting in settings_of(noise, seed):
        stream = setting.stream
        some, top = stream.gains, stream.gain_range
        room = dataclasses.replace(stream, gains=np.clip(some, 0, top - largest_changes(stream)))
        others = (dataclasses.replace(stream, gains=np.full_like(some, it)) for it in (0.0, top))
        streams = *dataclasses.replace(setting, stream=room).streams(), *others
        scale = np.asarray(noise.scale(stream, setting.mu))
        if any((scale != noise.scale(each, setting.mu)).any() for each in streams):
            raise CheckError("its scale depends on the gains; it is public, so it must not")


def less_mu_is_more_noise(noise: Noise) -> None:
    """Check that a smaller mu never gives less noise, and that `none_at_infinity` is right."""
    for stream in _streams(noise):
        scales = [np.asarray(noise.scale(stream, mu)) for mu in (*_LEVELS, math.inf)]
        for one, other in pairwise(scales):
            if (one < other).any():
                raise CheckError("a smaller mu gives a smaller scale; it must not")
        if noise.none_at_infinity == scales[-1].any():
            raise CheckError(
                "it has noise at mu = inf; set none_at_infinity=False"
                if noise.none_at_infinity
                else "it has no noise at mu = inf; set none_at_infinity=True"
            )


def releases_keep_what_is_said(noise: Noise, seed: int) -> str:
    """Check that releases are as declared, and that the record covers what is declared.

    A sound noise is refused with probability 1e-6. `dpol.checks.releases` says how it compares.
    """
    law_says_what_it_is(noise)
    record_covers_what_is_declared(noise, seed)
    if not (refused := releases_are_as_declared(noise, seed)):
        raise CheckError("a tenth of its noise would pass too, so nothing is checked; leave it out")
    return f"holds; would refute {refused:g} of the noise"


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
        return Verdict(title, found=run() or "holds")
    except CheckError as broken:
        return Verdict(title, str(broken))
    except Exception as error:  # any error of foreign code is a counterexample
        return Verdict(title, in_one_line(error))

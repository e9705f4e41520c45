"""A ceiling of the comparison: ours, with knowledge of the whole future. It is never a rival."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpol.core.randomness import Floats
from dpol.data.stream import GainStream
from dpol.experts.interface import LocalSetup, Member
from dpol.experts.learners.average import Weighing
from dpol.experts.learners.joined import LearnerAlone
from dpol.experts.learners.random_effects import RandomEffectsBank
from dpol.experts.play import observations, setup_of
from dpol.experts.registry import make_members
from dpol.noise import ISOTROPIC, privatize
from dpol.privacy.guarantee import NO_PRIVACY
from dpol.studies.games.runs import Played, play_suite
from dpol.studies.games.settings import CEILING, Games

KNOWN = "known-classes"
"""Label of ours where the class of each expert is known."""


@dataclass(frozen=True, kw_only=True)
class _Fixed(Weighing):
    """Weights that no round changes."""

    def after(self, *seen: Any) -> Weighing:
        return self


@dataclass(frozen=True, kw_only=True)
class KnownClasses(RandomEffectsBank):
    """Models and filters of random effects, with weights that stay.

    Args:
        scales: as in `RandomEffectsBank`.
        effect: likewise.
        persistence: likewise.
        forgetting: not used.
        weights: (K, n) weights of the models for each expert.
    """

    weights: Floats

    def first_weighing(self, count: int, setup: LocalSetup) -> Weighing:
        equal = super().first_weighing(count, setup)
        weights = np.broadcast_to(self.weights[:, None, :], equal.weights.shape)
        return _Fixed(fits=equal.fits, shares=equal.shares, weights=weights)


def classes_of(stream: GainStream, bank: RandomEffectsBank) -> Floats:
    """(K, n) weights of a bank's models for each expert, by its true gains of all rounds."""
    true = privatize(stream, ISOTROPIC.name, math.inf, seed=0, replicates=[0])
    patient = replace(bank, forgetting=1.0)
    state = patient.init(setup_of(true))
    for seen in observations(true):
        state, _ = patient.step(state, seen)
    return np.asarray(state.weighing.weights[:, 0])


def runs_with_classes(streams: Mapping[str, GainStream], main: Games) -> list[Played]:
    """Runs of ours with known classes, on the noise of its own runs at each level with noise."""
    assert main.comparison
    ours = main.comparison.ours
    specs = [spec for suite in main.suites.values() for spec in suite.algorithms]
    members = [it for spec in specs for it in make_members(spec)]
    bank = next(it.algorithm.bank for it in members if it.label == ours.algorithm)
    found = []
    for stream in streams.values():
        known = KnownClasses(
            scales=bank.scales,
            effect=bank.effect,
            persistence=bank.persistence,
            forgetting=bank.forgetting,
            weights=classes_of(stream, bank),
        )
        for mu in (mu for mu in main.levels.values() if mu < math.inf):
            block = play_suite(
                stream,
                [Member(KNOWN, CEILING, LearnerAlone(known))],
                noise=ours.noise,
                mu=mu,
                seed=main.seed,
                replicates=range(main.replicates),
                noise_memory=main.memory,
            )
            found += [replace(it, guarantee=NO_PRIVACY) for it in block.played]
    return found

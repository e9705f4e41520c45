"""Faults that reviews planted in algorithms, one each; those of scales are in `scales`.

`FAULTS` holds them by kind and name; `dpol check checks.planted:NAME` must refuse each.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from checks import blind, scales
from checks.broken import (
    OfSetup,
    OtherNoise,
    SoundForgetful,
    leader,
)
from dpol.privacy.losses import Loss, pure

FAULTS: dict[str, dict[str, str]] = {}
"""What is wrong, by kind and by name."""
PASS = {
    "LevelsOnce": "choices show little of sums that share their noise in long games",
    "RootOfStays": "choices of a tree show less than its nodes, which the ledger attacks",
    "Seldom": "long games are few, and noise that is a little too small shows in some of them",
}
"""Faults that pass at some seed, and why."""


def plant(kind: str, name: str, wrong: str, thing: Any) -> None:
    FAULTS.setdefault(kind, {})[name] = wrong
    globals()[name] = thing


# --- algorithms -----------------------------------------------------------------------------------


class Tails(OtherNoise):
    """Noise of the right deviation, of another law; `of` maps uniforms to it."""

    def step(self, state: Any, observation: Any, generators: Any) -> Any:
        t, noise, kept = state
        units = np.clip(generators.uniforms(len(noise)), 1e-12, 1 - 1e-12)
        gains = np.zeros_like(units) if observation is None else observation.gains
        return (t + 1, noise, kept), leader(gains + noise * self.of(units))


class UniformTails(Tails):
    def of(self, units: Any) -> Any:
        return math.sqrt(12) * (units - 0.5)


class StaysOfThreeAtMost(OfSetup):
    def factor(self, setup: Any) -> float:
        return float(min(setup.stay, 3) / setup.stay) ** 0.5


class OfFewerWeeks(SoundForgetful):
    """The mu of many weeks is that of half as many."""

    many = 8

    def guarantee(self, setup: Any) -> Any:
        week = setup.mu / np.sqrt(setup.stay)

        def mu(weeks: int) -> float:
            return float(week * (weeks / 2 if weeks >= self.many else weeks) ** 0.5)

        return setup.guarantee("fresh noise", setup.mu, mu)


class SomeBare(OtherNoise):
    """No noise in some rounds of some games."""

    share, each = 0.05, False

    def step(self, state: Any, observation: Any, generators: Any) -> Any:
        t, noise, kept = state
        drawn = generators.uniforms(len(noise) if self.each else 1) > self.share
        draws = generators.standard_normal(len(noise)) * drawn
        gains = np.zeros_like(draws) if observation is None else observation.gains
        return (t + 1, noise, kept), leader(gains + noise * draws)


class RoundedDown(SoundForgetful):
    """Its record is rounded down to one digit after the point."""

    def guarantee(self, setup: Any) -> Any:
        week = setup.mu / np.sqrt(setup.stay)

        def down(mu: float) -> float:
            return float(np.floor(10 * mu) / 10) if 0.1 <= mu < np.inf else float(mu)

        return setup.guarantee("fresh noise", down(setup.mu), lambda v: down(week * v**0.5))


class SmallDelta(SoundForgetful):
    """Its epsilon is that at delta = 0.01, but it claims delta = 1e-9."""

    def guarantee(self, setup: Any) -> Any:
        week = setup.mu / np.sqrt(setup.stay)

        def loss(mu: float) -> Loss:
            return pure(Loss(gaussian=mu).epsilon(1e-2), 1e-9) if mu < np.inf else Loss(gaussian=mu)

        return setup.guarantee("noise", loss(setup.mu), lambda v: loss(float(week * v**0.5)))


class DeltaOfOneWeek(SoundForgetful):
    """The (epsilon, delta) of a stay is that of one week."""

    def guarantee(self, setup: Any) -> Any:
        week = setup.mu / np.sqrt(setup.stay)

        def loss(mu: float) -> Loss:
            return pure(Loss(gaussian=mu).epsilon(1e-6), 1e-6) if mu < np.inf else Loss(gaussian=mu)

        return setup.guarantee("noise", loss(float(week)), lambda v: loss(float(week)))


class Seldom(OfSetup):
    """0.8 of the noise where more than 20 rounds are played."""

    def factor(self, setup: Any) -> float:
        return 0.8 if setup.n_rounds > 20 else 1.0


N = "an algorithm, named in a review"
for _fault, _words in {
    UniformTails: "uniform noise of the right deviation",
    StaysOfThreeAtMost: "no composition from the fourth week of a stay on",
    OfFewerWeeks: "the mu of eight weeks is that of four",
    SomeBare: "no noise in 5% of draws, of all experts",
    RoundedDown: "a record rounded down to one digit after the point",
    SmallDelta: "epsilon at delta = 0.01, claimed at delta = 1e-9",
    DeltaOfOneWeek: "the (epsilon, delta) of one week, claimed for a stay",
}.items():
    plant(N, _fault.__name__, _words, _fault)
plant("an algorithm", "Seldom", "0.8 of the noise in games of more than 20 rounds", Seldom)


def table() -> str:
    """Return the table of what the checks see, in Markdown; it names some of the refused faults."""
    lines = ["| a fault in | planted | refused | such as | passes |", "|---|---:|---:|---|---|"]
    wrong = {"a scale": dict(zip(scales.WRONG, scales.WRONG, strict=True))}
    every = [*wrong.items(), *FAULTS.items(), *blind.FAULTS.items()]
    for kind in ("a scale", "an algorithm"):
        of_kind = [of for own, of in every if own.partition(",")[0] == kind]
        faults = [
            (name, words.partition(":")[0].partition(";")[0])
            for of in of_kind
            for name, words in of.items()
        ]
        seen = [words for name, words in faults if name not in PASS]
        some = "; ".join(seen[:: len(seen) // 6 + 1])
        missed = "; ".join(f"{words}: {PASS[name]}" for name, words in faults if name in PASS)
        lines.append(f"| {kind} | {len(faults)} | {len(seen)} | {some} | {missed} |")
    return "\n".join(lines)

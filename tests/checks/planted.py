"""Faults that reviews planted in algorithms, one each; those of scales are in `scales`.

`FAULTS` holds them by name; `dpol check checks.planted:NAME` must refuse each.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from checks import blind, scales
from checks.broken import OfSetup, OtherNoise, SoundForgetful, faults_of, leader
from dpol.privacy.losses import Loss, pure

PASS = {
    "LevelsOnce": "choices show little of sums that share their noise in long games",
    "RootOfStays": "choices of a tree show less than its nodes, which the ledger attacks",
    "Seldom": "long games are few, and noise that is a little too small shows in some of them",
}
"""Faults that pass at some seed, and why."""


class _Tails(OtherNoise):
    """Noise of the right deviation, of another law; `of` maps uniforms to it."""

    def step(self, state: Any, observation: Any, generators: Any) -> Any:
        t, noise, kept = state
        units = np.clip(generators.uniforms(len(noise)), 1e-12, 1 - 1e-12)
        gains = np.zeros_like(units) if observation is None else observation.gains
        return (t + 1, noise, kept), leader(gains + noise * self.of(units))


class UniformTails(_Tails):
    """uniform noise of the right deviation."""

    def of(self, units: Any) -> Any:
        return math.sqrt(12) * (units - 0.5)


class StaysOfThreeAtMost(OfSetup):
    """no composition from the fourth week of a stay on."""

    def factor(self, setup: Any) -> float:
        return float(min(setup.stay, 3) / setup.stay) ** 0.5


class OfFewerWeeks(SoundForgetful):
    """the mu of eight weeks is that of four."""

    many = 8

    def guarantee(self, setup: Any) -> Any:
        week = setup.mu / np.sqrt(setup.stay)

        def mu(weeks: int) -> float:
            return float(week * (weeks / 2 if weeks >= self.many else weeks) ** 0.5)

        return setup.guarantee("fresh noise", setup.mu, mu)


class SomeBare(OtherNoise):
    """no noise in 5% of draws, of all experts."""

    def step(self, state: Any, observation: Any, generators: Any) -> Any:
        t, noise, kept = state
        drawn = generators.uniforms(1) > 0.05
        draws = generators.standard_normal(len(noise)) * drawn
        gains = np.zeros_like(draws) if observation is None else observation.gains
        return (t + 1, noise, kept), leader(gains + noise * draws)


class RoundedDown(SoundForgetful):
    """a record rounded down to one digit after the point."""

    def guarantee(self, setup: Any) -> Any:
        week = setup.mu / np.sqrt(setup.stay)

        def down(mu: float) -> float:
            return float(np.floor(10 * mu) / 10) if 0.1 <= mu < np.inf else float(mu)

        return setup.guarantee("fresh noise", down(setup.mu), lambda v: down(week * v**0.5))


class SmallDelta(SoundForgetful):
    """epsilon at delta = 0.01, claimed at delta = 1e-9."""

    def guarantee(self, setup: Any) -> Any:
        week = setup.mu / np.sqrt(setup.stay)
        claim = partial(_at, found=1e-2, claimed=1e-9)
        return setup.guarantee("noise", claim(setup.mu), lambda v: claim(float(week * v**0.5)))


class DeltaOfOneWeek(SoundForgetful):
    """the (epsilon, delta) of one week, claimed for a stay."""

    def guarantee(self, setup: Any) -> Any:
        week = _at(float(setup.mu / np.sqrt(setup.stay)), found=1e-6, claimed=1e-6)
        return setup.guarantee("noise", week, lambda v: week)


def _at(mu: float, found: float, claimed: float) -> Loss:
    """Return the epsilon of mu at one delta, claimed at another."""
    loss = Loss(gaussian=mu)
    return pure(loss.epsilon(found), claimed) if mu < np.inf else loss


class Seldom(OfSetup):
    """0.8 of the noise in games of more than 20 rounds."""

    def factor(self, setup: Any) -> float:
        return 0.8 if setup.n_rounds > 20 else 1.0


FAULTS = faults_of(__name__)
"""What is wrong, by name."""


def table() -> str:
    """Return the table of what the checks see, in Markdown; it names some of the refused faults."""
    lines = ["| a fault in | planted | refused | such as | passes |", "|---|---:|---:|---|---|"]
    wrong = dict(zip(scales.WRONG, scales.WRONG, strict=True))
    for kind, faults in {"a scale": wrong, "an algorithm": FAULTS | blind.FAULTS}.items():
        words = {name: of.partition(":")[0].partition(";")[0] for name, of in faults.items()}
        seen = [of for name, of in words.items() if name not in PASS]
        some = "; ".join(seen[:: len(seen) // 6 + 1])
        missed = "; ".join(f"{of}: {PASS[name]}" for name, of in words.items() if name in PASS)
        lines.append(f"| {kind} | {len(words)} | {len(seen)} | {some} | {missed} |")
    return "\n".join(lines)

"""Faults that reviews planted in noises, laws and algorithms, one each; and honest noises beside.

`FAULTS` holds them by kind and name; `dpol check checks.planted:NAME` must refuse each.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy

from checks import blind
from checks.broken import (
    OfSetup,
    OtherNoise,
    SoundForgetful,
    leader,
)
from dpol.noise.event_streams import (
    EVERY_ROUND,
    MECHANISMS,
    Release,
    budget_distribution,
    sample,
)
from dpol.noise.noises import CAPACITY, ISOTROPIC, noise_of
from dpol.privacy.losses import Loss, of_range, pure
from dpol.privacy.noise_laws import GAUSSIAN, LAPLACE, Law

FAULTS: dict[str, dict[str, str]] = {}
"""What is wrong, by kind and by name."""
PASS = {
    "LevelsOnce": "choices show little of sums that share their noise in long games",
    "RootOfStays": "choices of a tree show less than its nodes, which the ledger attacks",
    "Seldom": "long games are few, and noise that is a little too small shows in some of them",
    "LAST_DIGITS": "nothing looks at the last digits of a release",
}
"""Faults that pass at some seed, and why."""
HONEST: list[str] = []
"""Names of noises of other packages with nothing wrong."""


def plant(kind: str, name: str, wrong: str, thing: Any) -> None:
    FAULTS.setdefault(kind, {})[name] = wrong
    globals()[name] = thing


def honest(name: str, thing: Any) -> None:
    HONEST.append(name)
    globals()[name] = thing


# --- noises ---------------------------------------------------------------------------------------


def counts(
    change: Callable[[Any], Any], law: Law = LAPLACE, of_rounds: Any = None, **facts: Any
) -> Any:
    """Return a noise on counts. `change` maps x, noise, strength, w and two units to releases."""

    def release(x: Any, capacity: Any, draws: Any, epsilon: float, stay: int) -> Release:
        e = epsilon / stay
        unit, other = (
            np.where(d < 0, np.exp(d) / 2, 1 - np.exp(-d) / 2) for d in draws[:, :2].swapaxes(0, 1)
        )
        it = SimpleNamespace(
            x=x[:, None] + 0 * draws[:, 0], noise=draws[:, 0] / e, e=e, w=stay, unit=unit,
            other=other, capacity=capacity, t=np.arange(len(x))[:, None, None],
            i=np.arange(x.shape[1]),
        )  # fmt: skip
        made = change(it)
        return Release(counts=made, spent=np.full_like(made, e))

    of_rounds = of_rounds or (lambda e, rounds: law.loss(e, 2 * rounds))
    made = dataclasses.replace(
        EVERY_ROUND, law=law, of_rounds=of_rounds, release=release, draws=2, **facts
    )
    return noise_of("planted", made, "other")


def house(name: str, **facts: Any) -> Any:
    """Return a noise of dpol with changed facts."""
    return noise_of("planted", dataclasses.replace(MECHANISMS[name], **facts), "other")


def less(name: str, factor: float) -> Any:
    release = MECHANISMS[name].release
    return house(name, release=lambda x, c, draws, e, w: release(x, c, factor * draws, e, w))


def of_scale(change: Callable[[Any, Any, float], Any], base: Any = ISOTROPIC) -> Any:
    return dataclasses.replace(
        base, name="planted", origin="other", central=False,
        scale=lambda stream, mu: change(np.array(base.scale(stream, mu)), stream, mu),
    )  # fmt: skip


def shifted(x: Any, by: int) -> Any:
    """Return counts of other rounds; those at the end stay."""
    rounds = np.clip(np.arange(len(x)) + by, 0, len(x) - 1)
    return x[rounds]


def longer(release: Any, by: int) -> Any:
    """Return a release that takes a window to be longer or shorter, for the same epsilon."""
    return lambda x, c, draws, e, w: release(x, c, draws, e, max(1, w + by))


# Named by the reviews.
N = "a noise, named in a review"
plant(
    N,
    "FUTURE",
    "the mean of this round's and the next round's count",
    counts(lambda it: (it.x + shifted(it.x, 1)) / 2 + it.noise),
)
plant(
    N, "MIX10", "no noise in one draw of ten", counts(lambda it: it.x + it.noise * (it.other > 0.1))
)
plant(
    N,
    "BY_LAW",
    "a budget that decides by raw counts is charged as equal releases",
    house("budget-distribution", of_window=None),
)
plant(
    N,
    "SHORT_WINDOW",
    "the window of a budget is a round too short",
    house("budget-distribution", release=longer(budget_distribution, -1)),
)
plant(
    N,
    "SAMPLE_OFTEN",
    "two full releases in a stay",
    house("laplace-sample", release=longer(sample, -1)),
)
plant(
    N,
    "MUCH",
    "a larger scale where the gains sum to more than 40",
    of_scale(lambda s, stream, mu: s * (1 + (stream.gains.sum() > 40))),
)
for _name, _factors in {
    "laplace-uniform": (0.7, 0.5), "laplace-sample": (0.7, 0.5), "staircase": (0.7, 0.5),
    "fast": (0.7, 0.5), "budget-distribution": (0.7, 0.5, 0.3, 0.1),
    "budget-absorption": (0.7, 0.5, 0.3, 0.1), "pegasus": (0.7, 0.5, 0.3, 0.1),
}.items():  # fmt: skip
    for _factor in _factors:
        _key = f"{_name.replace('-', '_').upper()}_{10 * _factor:.0f}"
        plant(N, _key, f"{_factor:g} of the noise of {_name}", less(_name, _factor))

plant(
    "a noise",
    "LAST_DIGITS",
    "the seventh digit of a release is the count's",
    counts(lambda it: np.round(it.x + it.noise, 5) + 1e-7 * it.x),
)


# --- a new law: logistic noise --------------------------------------------------------------------


def logistic_law(**facts: Any) -> Law:
    honest = {
        "name": "logistic", "words": "logistic noise", "loss_of": of_range,
        "deviation_of": lambda e: math.pi / (math.sqrt(3) * e),
    }  # fmt: skip
    kind = facts.pop("kind", Law)
    return kind(**{**honest, **facts})


def logistic(change: Any = lambda noise, it: noise, of_rounds: Any = None, **facts: Any) -> Any:
    """Return logistic noise; `facts` are of its law."""
    return counts(
        lambda it: it.x + change(scipy.special.logit(it.unit) / it.e, it),
        law=logistic_law(**facts),
        of_rounds=of_rounds,
    )


class FalseGuess(Loss):
    guess = 0.5  # type: ignore[assignment]


class BelievesItself(Law):
    def loss(self, e: float, releases: int) -> Loss:
        return FalseGuess(draws=super().loss(e, releases).draws)


N = "a new law, named in a review"
plant(N, "DEVIATION_1", "the law says a deviation of 1 / e", logistic(deviation_of=lambda e: 1 / e))
plant(
    N,
    "DEVIATION_36",
    "the law says a deviation of 3.6 / e",
    logistic(deviation_of=lambda e: 3.6 / e),
)
plant(N, "MEAN_2", "the noise has mean 2 / e", logistic(lambda noise, it: noise + 2 / it.e))
plant(N, "EIGHT_TENTHS", "0.8 of the noise", logistic(lambda noise, it: 0.8 * noise))
plant(N, "HALF_NOISE", "half of the noise", logistic(lambda noise, it: 0.5 * noise))
plant(N, "HALF_LOSS", "losses half as large", logistic(loss_of=lambda e: of_range(e / 2)))
plant(
    N,
    "ONE_FOR_ALL",
    "one draw for all holders",
    logistic(lambda noise, it: noise[..., :1] + 0 * noise),
)
plant(
    N,
    "DRAWN_AGAIN",
    "last week's draw again",
    logistic(lambda noise, it: noise[it.t[:, 0, 0] // 2 * 2]),
)
plant(N, "FALSE_GUESS", "its guess is always 0.5", logistic(kind=BelievesItself))
plant(N, "NAMED_LAPLACE", "a second law called Laplace", logistic(name="Laplace"))


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

# --- honest ---------------------------------------------------------------------------------------


def whole(it: Any) -> Any:
    """Return two-sided geometric noise."""
    one, other = (np.floor(-np.log(u) / it.e) for u in (it.unit, it.other))
    return it.x + one - other


GEOMETRIC = Law(
    name="geometric", words="geometric noise",
    deviation_of=lambda e: 1 / (math.sqrt(2) * math.sinh(min(e, 600) / 2)) * (e < math.inf),
    loss_of=pure,
)  # fmt: skip


def _logistic_from_exponentials(it: Any) -> Any:
    return it.x + (np.log(-np.log1p(-it.unit)) - np.log(-np.log1p(-it.other))) / it.e


honest("LOGISTIC", logistic())
honest("GEOMETRIC_NOISE", counts(whole, law=GEOMETRIC))
NORMAL = Law(
    name="Gaussian sampler", words="Gaussian noise", deviation_of=GAUSSIAN.deviation_of,
    loss_of=lambda e: Loss(gaussian=e),
)  # fmt: skip


def _box_muller(it: Any) -> Any:
    return it.x + np.sqrt(-2 * np.log(it.unit)) * np.cos(2 * np.pi * it.other) / it.e


honest("NORMAL_NOISE", counts(_box_muller, law=NORMAL))
honest("DIFFERENCES", counts(lambda it: it.x + (np.log(it.unit) - np.log(it.other)) / it.e))
honest("GUMBELS", counts(_logistic_from_exponentials, law=logistic_law(name="two Gumbels")))
honest("ROUNDED", counts(lambda it: np.round(it.x + it.noise, 3)))
honest(
    "SMALLEST", of_scale(lambda s, stream, mu: np.broadcast_to(s.max(axis=0), s.shape), CAPACITY)
)
honest("LAST_TWO", house("laplace-uniform", repeats=True, release=lambda x, c, draws, e, w: Release(
    counts=(lambda r: (r + shifted(r, -1)) / 2)(x[:, None] + draws[:, 0] * w / e),
    spent=np.full_like(draws[:, 0], e / w),
)))  # fmt: skip


def table() -> str:
    """Return the table of what the checks see, in Markdown; it names some of the refused faults."""
    lines = ["| a fault in | planted | refused | such as | passes |", "|---|---:|---:|---|---|"]
    every = [*FAULTS.items(), *blind.FAULTS.items()]
    for kind in ("a noise", "a new law", "an algorithm"):
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

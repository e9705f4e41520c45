"""Noises of other packages: scales with nothing wrong, and scales that are wrong somewhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dpol.core.randomness import Floats
from dpol.data.stream import GainStream
from dpol.noise import CAPACITY, ISOTROPIC, Noise
from dpol.noise.noises import CONSTANT
from dpol.privacy.gaussian_dp import pure_epsilon
from dpol.privacy.losses import Promise
from dpol.privacy.noise_laws import LAPLACE, STAIRCASE

Scale = Callable[[GainStream, float], Floats]


def named(scale: Scale, base: Noise = CAPACITY, **facts: Any) -> Noise:
    """Return a noise of another package."""
    return replace(base, name="theirs", origin="other", central=False, scale=scale, **facts)


def of_law(law: Any, strength: Callable[[GainStream, float], float]) -> Noise:
    """Return noise on counts of a law, of one strength."""

    def scale(stream: GainStream, mu: float) -> Floats:
        deviation = law.deviation(strength(stream, mu)) * stream.count_sensitivity
        return np.asarray(deviation / stream.capacity)

    return named(scale, law_name=law.name)


def times(factor: Callable[[GainStream, float], Any], base: Noise = CAPACITY) -> Noise:
    """Return noise with a factor on the scale of a noise of dpol."""
    return named(lambda stream, mu: base.scale(stream, mu) * factor(stream, mu), base)


def one_cell(shape: tuple[int, ...], at: tuple[Any, ...]) -> Floats:
    """Return factors of 1, and of 0.9 in some cells."""
    factors = np.ones(shape)
    factors[at] = 0.9
    return factors


def smallest(stream: GainStream, mu: float) -> Floats:
    capacity = stream.capacities_for("noise").min(axis=0)
    needed = math.sqrt(2) * stream.count_sensitivity / (mu * capacity)
    return np.broadcast_to(needed, stream.gains.shape)


def by_two_smallest(stream: GainStream, mu: float) -> Floats:
    two = np.sort(stream.capacities_for("noise"), axis=1)[:, :2]
    moved = stream.count_sensitivity * np.sqrt((1 / two**2).sum(axis=1))
    return np.broadcast_to((moved / mu)[:, None], stream.gains.shape)


HONEST = {
    "isotropic": named(ISOTROPIC.scale, ISOTROPIC),
    "constant": named(CONSTANT.scale, CONSTANT),
    "capacity": named(CAPACITY.scale),
    "of the smallest capacity": named(smallest),
    "of the two smallest capacities": named(by_two_smallest),
    "a tenth more": times(lambda stream, mu: 1.1),
    "more in round 1": times(lambda stream, mu: 1 + (np.arange(stream.n_rounds) == 0)[:, None]),
    "more at the last place": times(lambda stream, mu: 1 + (np.arange(stream.n_experts) == 1)),
    "noise at infinity": named(
        lambda stream, mu: np.maximum(ISOTROPIC.scale(stream, mu), 0.01),
        ISOTROPIC,
        none_at_infinity=False,
    ),
    "rounded up": named(lambda stream, mu: np.ceil(1e6 * ISOTROPIC.scale(stream, mu)) / 1e6,
                        ISOTROPIC),
    "Laplace by pure epsilon": of_law(
        LAPLACE, lambda stream, mu: pure_epsilon(mu) / (2 * stream.stay)
    ),
    "staircase by pure epsilon": of_law(
        STAIRCASE, lambda stream, mu: pure_epsilon(mu) / (2 * stream.stay)
    ),
}  # fmt: skip
"""Scales with nothing wrong."""

WRONG = {
    "a tenth too small": times(lambda stream, mu: 0.9),
    "too small at one level": times(lambda stream, mu: 0.9 if mu == 0.25 else 1.0),
    "too small at small levels": times(lambda stream, mu: 0.9 if mu < 0.02 else 1.0),
    "none at large levels": times(lambda stream, mu: 0.1 if mu > 60 else 1.0),
    "too small at one place": times(
        lambda stream, mu: one_cell(stream.gains.shape, (slice(None), 11 % stream.n_experts))
    ),
    "too small at the ninth place": times(
        lambda stream, mu: one_cell(stream.gains.shape, (slice(None), slice(8, 9)))
    ),
    "too small in one round": times(
        lambda stream, mu: one_cell(stream.gains.shape, (slice(40, 41),))
    ),
    "too small at equal capacities": times(
        lambda stream, mu: 0.9 if np.ptp(stream.capacities_for("noise")) == 0 else 1.0
    ),
    "too small at large capacities": times(
        lambda stream, mu: 0.9 if stream.capacities_for("noise").min() > 200 else 1.0
    ),
    "too small where capacities fall": times(
        lambda stream, mu: (
            0.9
            if stream.n_rounds > 1 and (np.diff(stream.capacities_for("noise"), axis=0) < 0).all()
            else 1.0
        )
    ),
    "one person moves a count by 1": times(lambda stream, mu: 1 / stream.count_sensitivity),
    "too small for given sensitivities": times(
        lambda stream, mu: 0.9 if stream.capacity is None else 1.0, ISOTROPIC
    ),
    "Laplace for one count": of_law(LAPLACE, lambda stream, mu: pure_epsilon(mu) / stream.stay),
    "Laplace for one round": of_law(LAPLACE, lambda stream, mu: LAPLACE.largest(Promise(mu=mu), 2)),
    "by the largest sum of gains": times(
        lambda stream, mu: 1 + (np.arange(stream.n_experts) == stream.gains.sum(axis=0).argmax())
    ),
    "by a full place": times(lambda stream, mu: 1 + (stream.gains == stream.gain_range)),
    "by the number of people": times(lambda stream, mu: 1 + (stream.gains.sum() > 40)),
    "drawn": times(lambda stream, mu: 1 + np.random.default_rng().random()),
}
"""Scales that are too small somewhere, or depend on more than public facts."""
globals().update({f"HONEST_{i}": noise for i, noise in enumerate(HONEST.values())})
globals().update({f"WRONG_{i}": noise for i, noise in enumerate(WRONG.values())})

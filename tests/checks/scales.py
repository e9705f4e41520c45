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
from dpol.privacy.noise_laws import LAPLACE

Scale = Callable[[GainStream, float], Floats]


def named(scale: Scale, base: Noise = CAPACITY, **facts: Any) -> Noise:
    """Return a noise of another package."""
    return replace(base, name="theirs", origin="other", central=False, scale=scale, **facts)


def of_strength(strength: Callable[[GainStream, float], float]) -> Noise:
    """Return Laplace noise on counts, of one strength."""

    def scale(stream: GainStream, mu: float) -> Floats:
        deviation = LAPLACE.deviation(strength(stream, mu)) * stream.count_sensitivity
        return np.asarray(deviation / stream.capacity)

    return named(scale, law_name=LAPLACE.name)


def beds(stream: GainStream) -> Floats:
    return np.asarray(stream.capacities_for("noise"))


def times(factor: Callable[[GainStream, float], Any], base: Noise = CAPACITY) -> Noise:
    """Return noise with a factor on the scale of a noise of dpol."""
    return named(lambda stream, mu: base.scale(stream, mu) * factor(stream, mu), base)


def less(where: Callable[[GainStream, float], Any], base: Noise = CAPACITY) -> Noise:
    """Return noise of dpol that is a tenth too small where a condition holds."""
    return times(lambda stream, mu: np.where(where(stream, mu), 0.9, 1.0), base)


def twice(where: Callable[[GainStream, float], Any]) -> Noise:
    """Return noise of dpol that is twice as large where a condition holds."""
    return times(lambda stream, mu: np.where(where(stream, mu), 2.0, 1.0))


def place(stream: GainStream, number: int) -> Any:
    """Return which cells are of one place."""
    return np.arange(stream.n_experts) == number


def week(stream: GainStream, number: int) -> Any:
    """Return which cells are of one round."""
    return (np.arange(stream.n_rounds) == number)[:, None]


def falling(capacity: Floats) -> bool:
    return len(capacity) > 1 and bool((np.diff(capacity, axis=0) < 0).all())


def smallest(stream: GainStream, mu: float) -> Floats:
    needed = math.sqrt(2) * stream.count_sensitivity / (mu * beds(stream).min(axis=0))
    return np.broadcast_to(needed, stream.gains.shape)


def by_two_smallest(stream: GainStream, mu: float) -> Floats:
    two = np.sort(beds(stream), axis=1)[:, :2]
    moved = stream.count_sensitivity * np.sqrt((1 / two**2).sum(axis=1))
    return np.broadcast_to((moved / mu)[:, None], stream.gains.shape)


HONEST = {
    "isotropic": named(ISOTROPIC.scale, ISOTROPIC),
    "constant": named(CONSTANT.scale, CONSTANT),
    "capacity": named(CAPACITY.scale),
    "of the smallest capacity": named(smallest),
    "of the two smallest capacities": named(by_two_smallest),
    "a tenth more": times(lambda stream, mu: 1.1),
    "more in round 1": twice(lambda stream, mu: week(stream, 0)),
    "more at the last place": twice(lambda stream, mu: place(stream, 1)),
    "noise at infinity": named(
        lambda stream, mu: np.maximum(ISOTROPIC.scale(stream, mu), 0.01),
        ISOTROPIC,
        none_at_infinity=False,
    ),
    "rounded up": named(
        lambda stream, mu: np.ceil(1e6 * ISOTROPIC.scale(stream, mu)) / 1e6, ISOTROPIC
    ),
    "Laplace by pure epsilon": of_strength(lambda stream, mu: pure_epsilon(mu) / (2 * stream.stay)),
}
"""Scales with nothing wrong."""

WRONG = {
    "a tenth too small": less(lambda stream, mu: True),
    "too small at one level": less(lambda stream, mu: mu == 0.25),
    "too small at small levels": less(lambda stream, mu: mu < 0.02),
    "none at large levels": times(lambda stream, mu: 0.1 if mu > 60 else 1.0),
    "too small at one place": less(lambda stream, mu: place(stream, 11 % stream.n_experts)),
    "too small at the ninth place": less(lambda stream, mu: place(stream, 8)),
    "too small in one round": less(lambda stream, mu: week(stream, 40)),
    "too small at equal capacities": less(lambda stream, mu: np.ptp(beds(stream)) == 0),
    "too small at large capacities": less(lambda stream, mu: beds(stream).min() > 200),
    "too small where capacities fall": less(lambda stream, mu: falling(beds(stream))),
    "one person moves a count by 1": times(lambda stream, mu: 1 / stream.count_sensitivity),
    "too small for given sensitivities": less(
        lambda stream, mu: stream.capacity is None, ISOTROPIC
    ),
    "Laplace for one count": of_strength(lambda stream, mu: pure_epsilon(mu) / stream.stay),
    "Laplace for one round": of_strength(lambda stream, mu: LAPLACE.largest(Promise(mu=mu), 2)),
    "by the largest sum of gains": twice(
        lambda stream, mu: place(stream, stream.gains.sum(axis=0).argmax())
    ),
    "by a full place": twice(lambda stream, mu: stream.gains == stream.gain_range),
    "by the number of people": twice(lambda stream, mu: stream.gains.sum() > 40),
    "drawn": times(lambda stream, mu: 1 + np.random.default_rng().random()),
}
"""Scales that are too small somewhere, or depend on more than public facts."""
globals().update({f"HONEST_{i}": noise for i, noise in enumerate(HONEST.values())})
globals().update({f"WRONG_{i}": noise for i, noise in enumerate(WRONG.values())})


def named(label: str) -> str:
    """Return the name by which dpol finds a scale of the tables above."""
    kind, scales = ("HONEST", HONEST) if label in HONEST else ("WRONG", WRONG)
    return f"checks.scales:{kind}_{[*scales].index(label)}"

"""Two bounds on the probability that the leader of a Gaussian random walk changes, with inverses.

A vector of n experts has a leader and a gap (leader minus runner-up). It takes B
steps, each adding N(0, eta^2 I). Both bounds limit the probability that the leader
changes at any of the B steps, and that a gap of k + l ever falls below l.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np
import scipy

from dpol.core.randomness import Floats

if TYPE_CHECKING:
    from scipy.interpolate import PchipInterpolator


def _expected_maximum(n_experts: int) -> float:
    """Return sqrt(log(2n - 2)), a bound on the others' mean maximum in units of eta sqrt(2 B)."""
    return math.sqrt(math.log(2 * n_experts - 2))


def _borell_tis_tail(b: Floats) -> Floats:
    """Return min(2 Phi(-sqrt(2) b) + 2 sqrt(pi) phi(b) (Phi(b) - Phi(-b)), 1); 1 for b <= 0."""
    b = np.maximum(b, 0.0)
    overtaken = np.sqrt(2.0) * np.exp(-(b**2) / 2) * scipy.special.erf(b / np.sqrt(2.0))
    return np.asarray(np.minimum(2 * scipy.special.ndtr(-np.sqrt(2.0) * b) + overtaken, 1.0))


Bound = Literal["borell-tis", "reflection"]
"""Names of the bounds."""


@dataclass(frozen=True)
class SwitchingBound:
    """Bound on the probability that the leader changes, and its inverse.

    Both depend on the gap, the number of steps B and the noise scale eta only through
    z = gap / (eta sqrt(2 B)).

    >>> z = np.array(40 / (1.0 * math.sqrt(2 * 100)))
    >>> [round(float(bound.tail(z, 20)), 3) for bound in BOUNDS.values()]
    [0.788, 0.089]

    Args:
        ours: whether it is our bound, not the bound of the paper.
        tail: maps (z, n) to the bound; non-increasing in z.
        threshold: maps (probability, n) to the smallest z where the bound is at most the
            probability, for probabilities in (0, 1); exact up to rounding (`reflection`), or
            rounded up by less than 1e-6 (`borell-tis`).
    """

    ours: bool
    tail: Callable[[Floats, int], Floats]
    threshold: Callable[[Floats, int], Floats]


def _reflection_threshold(probability: Floats, n_experts: int) -> Floats:
    return np.asarray(np.maximum(-scipy.special.ndtri(probability / (2 * (n_experts - 1))), 0.0))


# Reach and nodes of the interpolant; its tail is about 1e-297 at the far end.
_LARGEST_B = 37.0
_NODES = 16_384
_SAFETY = 1e-7


@cache
def _inverse_borell_tis() -> PchipInterpolator:
    """Return b as a function of the logarithm of its tail: a monotone interpolant, built once."""
    from scipy.interpolate import PchipInterpolator

    # Denser near 0, where the tail is flat.
    b = _LARGEST_B * np.linspace(0.0, 1.0, _NODES) ** 2
    log_tail = np.log(_borell_tis_tail(b))
    falling = np.concatenate([[True], log_tail[1:] < np.minimum.accumulate(log_tail)[:-1]])
    return PchipInterpolator(log_tail[falling][::-1], b[falling][::-1])


def _borell_tis_threshold(probability: Floats, n_experts: int) -> Floats:
    log_probability = np.log(np.asarray(probability, dtype=float))
    inverse = _inverse_borell_tis()
    if (log_probability < inverse.x[0]).any():
        raise ValueError(
            f"the bound cannot be inverted below {math.exp(inverse.x[0]):.1g}; take a larger alpha"
        )
    b = inverse(np.minimum(log_probability, 0.0)) + _SAFETY
    return np.asarray(b + _expected_maximum(n_experts))


BOUNDS: Mapping[Bound, SwitchingBound] = {
    "borell-tis": SwitchingBound(
        ours=False,
        tail=lambda z, n: _borell_tis_tail(z - _expected_maximum(n)),
        threshold=_borell_tis_threshold,
    ),
    "reflection": SwitchingBound(
        ours=True,
        tail=lambda z, n: np.minimum(2 * (n - 1) * scipy.special.ndtr(-z), 1.0),
        threshold=_reflection_threshold,
    ),
}
"""Switching bounds by name.

`borell-tis` is the paper's bound, from the Borell-TIS inequality: `_borell_tis_tail` of
b = z - sqrt(log(2n - 2)). Source: "Prediction with Expert Advice under Local Differential
Privacy", Theorem 1. `reflection` is ours, from the reflection principle: 2 (n - 1) Phi(-z), at
most 1. The leader changes only if one of its n - 1 differences to the others, walks with steps
N(0, 2 eta^2) that start at the gap or above, falls below 0.
"""

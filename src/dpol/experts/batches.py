"""The sizes of batches of RW-AdaBatch, by bounds on the probability that the leader changes.

A vector of n experts has a leader and a gap (leader minus runner-up). It takes B steps, each adding
N(0, eta^2 I). Both bounds limit the probability that the leader changes at any of the B steps, and
that a gap of k + l ever falls below l.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from dpol.core.randomness import Floats

BatchSizes = NDArray[np.int64]
"""Array of batch sizes, in rounds."""


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
        beyond: whether the bound is not in the paper.
        tail: maps (z, n) to the bound; non-increasing in z.
        threshold: maps (probability, n) to the smallest z where the bound is at most the
            probability, for probabilities in (0, 1]; exact up to rounding (`reflection`), or
            rounded up by less than 1e-6 (`borell-tis`; by less than 1e-4 within 1e-13 of 1).
    """

    beyond: bool
    tail: Callable[[Floats, int], Floats]
    threshold: Callable[[Floats, int], Floats]


def _reflection_threshold(probability: Floats, n_experts: int) -> Floats:
    return np.asarray(np.maximum(-scipy.special.ndtri(probability / (2 * (n_experts - 1))), 0.0))


# Newton's last error near a probability of 1, and how far rounding may take it below the root.
_STEPS, _SAFETY = 25, 1e-7


def _borell_tis_threshold(probability: Floats, n_experts: int) -> Floats:
    """Solve by Newton's method from above: the logarithm of the tail is concave in b."""
    goal = np.log(np.asarray(probability, dtype=float))
    b = np.sqrt(math.log(2) - 2 * goal)
    for _ in range(_STEPS):
        overtaken = np.sqrt(2.0) * scipy.special.erf(b / np.sqrt(2.0))
        scaled = scipy.special.erfcx(b) * np.exp(-(b**2) / 2) + overtaken  # tail exp(b^2 / 2)
        b = b + (np.log(scaled) - b**2 / 2 - goal) * scaled / (b * overtaken)
    return np.asarray(b + _SAFETY + _expected_maximum(n_experts))


BOUNDS: Mapping[Bound, SwitchingBound] = {
    "borell-tis": SwitchingBound(
        beyond=False,
        tail=lambda z, n: _borell_tis_tail(z - _expected_maximum(n)),
        threshold=_borell_tis_threshold,
    ),
    "reflection": SwitchingBound(
        beyond=True,
        tail=lambda z, n: np.minimum(2 * (n - 1) * scipy.special.ndtr(-z), 1.0),
        threshold=_reflection_threshold,
    ),
}
"""Switching bounds by name.

`borell-tis` is the paper's bound, from the Borell-TIS inequality: `_borell_tis_tail` of
b = z - sqrt(log(2n - 2)). Source: "Prediction with Expert Advice under Local Differential
Privacy", Theorem 1. `reflection` is not in the paper. By the reflection principle, it is
2 (n - 1) Phi(-z), at most 1. The leader changes only if one of its n - 1 differences to the
others, walks with steps N(0, 2 eta^2) that start at the gap or above, falls below 0.
"""


@dataclass(frozen=True, kw_only=True)
class BatchRule:
    """Rule for the next batch: the largest B up to `longest` that its switching bound allows.

    The gap may shrink by r B while B rounds of gains come in, so B is allowed if
    bound(gap - r B, B) < alpha sqrt(log(n) / (t + B)), that is if
    gap > r B + eta sqrt(2 B) z, where z is the bound's threshold for the right-hand side. The
    required gap grows with B, so the largest B is found by bisection. Thresholds are computed once:
    `reach` is eta sqrt(2) z for every t + B up to 2 T, and -inf where any gap will do. Source:
    "Prediction with Expert Advice under Local Differential Privacy", Corollary 1 and Algorithm 4.

    Args:
        bound: name of the switching bound, `borell-tis` or `reflection`.
        alpha: tolerance for batching.
        n_experts: n, number of experts.
        longest: B_max, the number of rounds T.
        gain_range: r, upper end of the gains.
        noise_scale: eta; 0 leaves the condition gap > r B.

    Raises:
        ValueError: n is below 2.
    """

    bound: Bound
    alpha: float
    n_experts: int
    longest: int
    gain_range: float
    noise_scale: float
    reach: Floats = field(init=False)

    def __post_init__(self) -> None:
        if self.n_experts < 2:
            raise ValueError(f"RW-AdaBatch needs at least 2 experts, got {self.n_experts}")
        after = np.arange(2 * self.longest + 1, dtype=float)
        after[0] = 1.0  # t + B is at least 2
        target = self.alpha * np.sqrt(math.log(self.n_experts) / after)
        reach = np.full(len(after), -np.inf)
        small = target < 1
        threshold = self.switching.threshold(target[small], self.n_experts)
        reach[small] = math.sqrt(2) * self.noise_scale * threshold
        object.__setattr__(self, "reach", reach)

    @property
    def switching(self) -> SwitchingBound:
        """Switching bound of the name `bound`."""
        return BOUNDS[self.bound]

    def required_gap(self, size: BatchSizes, t: int) -> Floats:
        """Return the gaps above which batches of `size` may start before round t, in its shape."""
        return np.asarray(self.gain_range * size + self.reach[t + size] * np.sqrt(size))

    def batch_sizes(self, gap: Floats, t: int) -> BatchSizes:
        """Return the (R,) sizes, at least 1, of batches that start before round t with `gap`."""
        most, last = gap.max(), 64
        while last < self.longest and self.required_gap(np.asarray(last), t) < most:
            last *= 2
        sizes = np.arange(1, min(last, self.longest) + 1)
        return np.maximum(np.searchsorted(self.required_gap(sizes, t), gap), 1)

"""The rule for the sizes of batches of RW-AdaBatch."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from dpol.core.randomness import Floats
from dpol.experts.switching import BOUNDS, Bound, SwitchingBound
from dpol.privacy.mixtures import BatchSizes


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

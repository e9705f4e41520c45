"""Privacy amplification by batches: how a random batch size changes a Gaussian guarantee.

A round in a batch of size B has the central guarantee mu / sqrt(B). If B is random and
independent of the round's own data, the round has the guarantee of a mixture of Gaussian
pairs; a stochastically smaller B gives a valid lower bound. Source: "Prediction with Expert Advice
under Local Differential Privacy", section 3.1.2, Theorem 2, Lemmas 1 and 2, Corollary 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy
from numpy.typing import ArrayLike

from dpol.core.arguments import real_array
from dpol.core.randomness import Floats
from dpol.experts.batches import BatchRule, BatchSizes
from dpol.privacy.gaussian_dp import delta_of_epsilon, epsilon_of_delta, smallest_epsilon

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline


@dataclass(frozen=True)
class BatchMixture:
    """Distribution of the size of the containing batch, and its guarantee.

    Args:
        mu: Gaussian-DP parameter of one round's noise, positive and finite.
        sizes: (k,) batch sizes, increasing.
        weights: (k,) probabilities of the sizes, summing to 1.

    >>> mixture = BatchMixture(mu=1.0, sizes=np.array([1, 4]), weights=np.array([0.5, 0.5]))
    >>> mixture.mean(), mixture.mus.tolist(), round(mixture.epsilon(0.01), 2)
    (2.5, [1.0, 0.5], 2.02)
    """

    mu: float
    sizes: BatchSizes
    weights: Floats

    @property
    def mus(self) -> Floats:
        """Gaussian-DP parameter mu / sqrt(b) of each batch size, (k,)."""
        return np.asarray(self.mu / np.sqrt(self.sizes))

    def mean(self) -> float:
        """Return the mean batch size."""
        return float(self.weights @ self.sizes)

    def trade_off_at(self, threshold: ArrayLike) -> tuple[Floats, Floats]:
        """Return both error rates of the test at log likelihood ratios of any shape.

        As the threshold runs over the real numbers, the pairs of false positive and false negative
        rates trace the trade-off function (Lemma 2).
        """
        c = np.clip(real_array("threshold", threshold), -1e100, 1e100)[..., None]
        false_positive = scipy.special.ndtr(-(c / self.mus + self.mus / 2)) @ self.weights
        false_negative = scipy.special.ndtr(c / self.mus - self.mus / 2) @ self.weights
        return np.asarray(false_positive), np.asarray(false_negative)

    def delta(self, epsilon: ArrayLike) -> Floats:
        """Return delta(eps): the sum over b of w_b times the delta(eps) of mu / sqrt(b)-GDP."""
        each = delta_of_epsilon(real_array("epsilon", epsilon)[..., None], self.mus)
        return np.asarray(each @ self.weights)

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon at `delta`; never above the epsilon of mu-GDP."""
        upper = epsilon_of_delta(delta, self.mu)
        return smallest_epsilon(lambda epsilon: float(self.delta(epsilon)), delta, upper)


def gap_survival(gap: ArrayLike, n_experts: int) -> Floats:
    """Return P(leader minus runner-up >= gap) of n independent standard normals.

    The gap of the noisy gains before round t is stochastically smallest when all means are
    equal (Theorem 2); it then has this distribution, in units of eta sqrt(t).
    """
    log_survival, _ = _gap_splines(n_experts)
    gap = np.asarray(gap, dtype=float)
    inside = np.clip(gap, 0.0, _REACH)
    return np.where(gap > _REACH, 0.0, np.minimum(np.exp(log_survival(inside)), 1.0))


def gap_density(gap: ArrayLike, n_experts: int) -> Floats:
    """Return the density of the distribution of `gap_survival`, at gaps of any shape."""
    _, log_density = _gap_splines(n_experts)
    gap = np.asarray(gap, dtype=float)
    inside = np.clip(gap, 0.0, _REACH)
    return np.where((gap < 0) | (gap > _REACH), 0.0, np.exp(log_density(inside)))


# The gap of n standard normals exceeds this with probability below 1e-16.
_REACH = 12.0
_GRID = np.linspace(0.0, _REACH, 1201)
_Z = np.linspace(-9.0, _REACH + 9.0, 901)


@lru_cache(maxsize=8)
def _gap_splines(n_experts: int) -> tuple[CubicSpline, CubicSpline]:
    """Return splines of the log survival function and the log density on [0, _REACH].

    Quadrature by the trapezoidal rule converges exponentially on these integrands over the line.
    """
    from scipy.interpolate import CubicSpline

    n = n_experts
    behind = _Z[None, :] - _GRID[:, None]
    log_phi = -(_Z**2) / 2 - math.log(2 * math.pi) / 2
    log_behind = scipy.special.log_ndtr(behind)
    log_step = math.log(_Z[1] - _Z[0])
    survival = scipy.special.logsumexp(log_phi + (n - 1) * log_behind, axis=1) + math.log(n)
    log_phi_behind = -(behind**2) / 2 - math.log(2 * math.pi) / 2
    density = scipy.special.logsumexp(log_phi + log_phi_behind + (n - 2) * log_behind, axis=1)
    density += math.log(n * (n - 1))
    return CubicSpline(_GRID, survival + log_step), CubicSpline(_GRID, density + log_step)


# Nodes of the quadrature over the gap; dips with a smaller probability are neglected.
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)
_NO_DIP = 1e-15
_EXACT_SIZES = 256


def containing_batch(t: int, rule: BatchRule, mu: float) -> BatchMixture:
    """Return a data-independent lower bound on the size of the batch that contains round t.

    The bound is stochastically smaller than the true size on every stream that was fixed beforehand
    (an oblivious adversary); it does not hold against an adversary that reacts to the noise. Round
    t is in a batch of size b or less only if, before one of the last min(b, t) rounds, the gap was
    smaller than a larger batch requires. The probability that it was not is bounded from below by
    an integral over the gap at the start of that window and the probability of a dip after it.

    Args:
        t: round, counted from 1.
        rule: rule for batch sizes, with noise above 0; its switching bound also limits the
            probability of the dip.
        mu: Gaussian-DP parameter of one round's noise.
    """
    b = _sizes_to_check(rule.longest)
    return _mixture(mu, b, _exceeding(b, t, rule))


def heuristic_batch(t: int, rule: BatchRule, mu: float) -> BatchMixture:
    """Return an unproved guess at the size of the batch that contains round t.

    The guess ignores gains and uses the gap before round t instead of the gap before the batch. Two
    experts then have a gap of size `eta sqrt(2 t) |N(0, 1)|`, which is below k with probability
    at most k / (eta sqrt(pi t)); the gap of n experts has at most n (n - 1) / 2 times this
    density. By the Borell-TIS inequality, whatever the rule's own bound, b rounds need a gap
    of eta sqrt(2 b) (sqrt(log(2 n - 2)) + sqrt(2 log(1/p))), p = alpha sqrt(log(n) / t). The noise
    cancels: the guess is the same for every mu, and too large where noise does not exceed gains.
    Source: "Prediction with Expert Advice under Local Differential Privacy", section A.11, with
    its constants derived again here; the paper itself warns against using it in place of a bound.

    Args:
        t: round, counted from 1.
        rule: rule for batch sizes, with noise above 0.
        mu: Gaussian-DP parameter of one round's noise.
    """
    n, b = rule.n_experts, _sizes_to_check(rule.longest)
    failure = min(1.0, rule.alpha * math.sqrt(math.log(n) / t))
    needed = math.sqrt(math.log(2 * n - 2)) + math.sqrt(-2 * math.log(failure))
    smaller = n * (n - 1) / 2 * needed * np.sqrt(2 * (b + 1) / (math.pi * t))
    return _mixture(mu, b, np.maximum(1 - smaller, 0.0))


def _mixture(mu: float, b: BatchSizes, exceeding: Floats) -> BatchMixture:
    """Return the mixture with P(size > b) = `exceeding` whose sizes are as small as possible."""
    # P(size > b) falls in b, so a lower bound for a larger b holds for a smaller one too.
    exceeds = np.concatenate([[1.0], np.maximum.accumulate(exceeding[::-1])[::-1], [0.0]])
    return BatchMixture(mu, np.concatenate([[1], b + 1]), np.abs(np.diff(exceeds)))


def observed_batches(sizes: BatchSizes, mu: float) -> BatchMixture:
    """Return the empirical mixture of observed sizes of containing batches, of any shape."""
    values, counts = np.unique(sizes, return_counts=True)
    return BatchMixture(mu, values, counts / counts.sum())


def _sizes_to_check(longest: int) -> BatchSizes:
    """Return all b up to `_EXACT_SIZES`, then b a few per cent apart, up to `longest` - 1."""
    dense = np.arange(1, min(longest, _EXACT_SIZES + 1))
    sparse = np.geomspace(_EXACT_SIZES, max(longest - 1, _EXACT_SIZES), 256)
    together = np.unique(np.concatenate([dense, np.round(sparse).astype(np.int64)]))
    return together[together < longest]


def _exceeding(b: BatchSizes, t: int, rule: BatchRule) -> Floats:
    """Return q_b, a lower bound on P(containing batch of round t > b), for each b."""
    steps, n = np.minimum(b, t) - 1, rule.n_experts
    scale = rule.noise_scale * np.sqrt(np.maximum(1, t - b + 1))
    needed = np.maximum(rule.required_gap(b + 1, t), 0.0)
    # The gap must stay above `needed` while gains and noise move it for `steps` rounds.
    start = needed + rule.gain_range * steps
    spread = rule.noise_scale * np.sqrt(2.0 * steps)
    ends = rule.switching.threshold(np.array([1.0, _NO_DIP]), n)
    low = np.minimum((start + spread * ends[0]) / scale, _REACH)
    high = np.minimum((start + spread * ends[1]) / scale, _REACH)
    gap = low[:, None] + (high - low)[:, None] * (_NODES + 1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (gap * scale[:, None] - start[:, None]) / spread[:, None]
    stays = np.where(spread[:, None] > 0, 1 - rule.switching.tail(np.maximum(z, 0.0), n), 1.0)
    weights = _NODE_WEIGHTS * (high - low)[:, None] / 2
    inside = (weights * gap_density(gap, n) * stays).sum(axis=1)
    beyond = gap_survival(high, n) * (1 - _NO_DIP)
    return np.where(low < _REACH, inside + beyond, 0.0)

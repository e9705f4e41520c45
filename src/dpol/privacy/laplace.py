"""Privacy of several releases with Laplace noise together, by the distribution of the loss.

Each of k releases adds Laplace noise of scale s / e to a count, and one person moves every count by
s. The privacy loss of one release is e with probability 1/2, -e with probability exp(-e) / 2, and
has density exp((loss - e) / 2) / 4 between them. Smaller moves, and fewer releases, lose less:
Laplace noise is log-concave, and a release that the person is not in tells nothing. The same holds
if later counts depend on earlier releases (Dong, Roth and Su, "Gaussian Differential Privacy",
section 3).

All numbers are upper bounds. For k <= 16 mu, and delta at epsilon = 0, are too large by less than
0.01%, any delta from 1e-6 by less than 0.1%.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, reduce

import numpy as np
import scipy

from dpol.core.randomness import Floats
from dpol.privacy.gaussian_dp import delta_of_epsilon, implied_mu, pure_epsilon

# Steps of the grid from a loss of 0 to e, for e = 1.
_STEPS = 40
# Probabilities are raised by this part, and are computed more accurately.
_ROUNDING = 1e-12


def _losses(e: float, releases: int) -> tuple[Floats, Floats]:
    """Return the possible losses of all releases, in order, and their log probabilities.

    A loss between two points of the grid becomes one of the two, at random, so that both points
    keep their likelihood ratios. The loss could be drawn from the point, so points reveal more.

    Without the factor exp((loss - e) / 2) a loss and its negative have the same mass. All masses
    are positive, so sums of products keep the digits of tails, which Fourier transforms lose.
    """
    steps = math.ceil(min(_STEPS * max(math.sqrt(e), e), 1000))
    shared = math.tanh(e / steps / 4)
    one = np.full(2 * steps + 1, shared)
    one[[0, -1]] = (1 + shared) / 2
    total = one.sum()
    logs = np.log(np.maximum(reduce(np.convolve, [one / total] * releases), 1e-320))
    losses = e / steps * np.arange(-steps * releases, steps * releases + 1, dtype=float)
    return losses, logs + releases * (math.log(total) - e / 2) + losses / 2


def delta_of_releases(epsilon: float, e: float, releases: int) -> float:
    """Return the least delta such that the releases are (epsilon, delta)-DP together.

    An attacker's best guess is right with probability (1 + delta) / 2 at epsilon = 0.

    >>> round(delta_of_releases(0.0, 1.0, 1), 6) == round(1 - math.exp(-0.5), 6)
    True
    """
    losses, logs = _losses(e, releases)
    over = losses > epsilon
    return float(np.exp(logs[over] + _ROUNDING) @ -np.expm1(epsilon - losses[over]))


def mu_of_releases(e: float, releases: int) -> float:
    """Return the least mu such that the releases are mu-GDP together; inf for e = inf.

    From mu = 13 on digits run out, and it is at most the mu that pure epsilon-DP implies.

    >>> round(mu_of_releases(0.5, 1), 4)
    0.5618
    """
    pure = implied_mu(releases * e)
    if math.isinf(pure):
        return pure
    # The trade-off curve is linear between the tests "the loss is at least x", and Gaussian curves
    # are convex: only these tests count. By symmetry those with x > 0 are enough.
    losses, logs = _losses(e, releases)
    right = np.minimum(np.logaddexp.accumulate(logs[::-1])[::-1] + _ROUNDING, 0.0)
    wrong = np.logaddexp.accumulate(logs)[::-1]
    # Tests beyond those known are right with some p, and wrong with p exp(-k e) at least. The mu of
    # such a pair grows with p, which is larger at the last test known.
    known = (losses > 0) & (right > -600)
    right, wrong = right[known], np.append(wrong[known], right[known][-1] - releases * e)
    quantiles = scipy.special.ndtri_exp(np.append(right, right[-1]))
    return min(pure, float((quantiles - scipy.special.ndtri_exp(wrong)).max()))


@cache
def release_epsilon(mu: float, releases: int) -> float:
    """Return the largest e such that the releases are mu-GDP together; inf for mu = inf.

    >>> e = release_epsilon(1.0, 16)
    >>> round(e, 4), round(mu_of_releases(e, 16), 9)
    (0.2588, 1.0)
    """
    return _largest(lambda e: mu_of_releases(e, releases) <= mu, pure_epsilon(mu) / releases)


@cache
def mu_at_same_delta(mu: float, epsilon: float, releases: int) -> float:
    """Return the mu of the least noise that has at epsilon the delta of mu-GDP.

    At epsilon = 0 an attacker's best guess is right as often as under mu-GDP.
    """
    delta = float(delta_of_epsilon(epsilon, mu))
    e = _largest(  # noise that is mu-GDP has no larger delta
        lambda e: delta_of_releases(epsilon, e, releases) <= delta, release_epsilon(mu, releases)
    )
    return mu_of_releases(e, releases)


def _largest(allowed: Callable[[float], bool], low: float) -> float:
    """Return the largest e that is allowed, from one that is."""
    high = 2 * low
    while high < math.inf and allowed(high):
        low, high = high, 2 * high
    while low < high * (1 - 1e-10):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if allowed(middle) else (low, middle)
    return low

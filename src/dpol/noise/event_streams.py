"""Counts released under w-event privacy: noise that each holder adapts to its own past releases.

A window of w rounds spends at most epsilon, so a person who stays up to w rounds at one holder has
epsilon there. Two Laplace releases with e1 and e2 lose at most as much as one with e1 + e2, even if
the first decides e2: so a window of budget absorption loses at most one release of epsilon.
The groups of PeGaSus add their pure epsilon to the Laplace noise of every round.

Every mechanism maps the counts (T, n) of n holders, in units of what one person can change, to R
replicates of their releases. A holder's releases use its own counts, its own draws (standard
Laplace, (T, k, R, n)) and public numbers only.

Sources: uniform, sample and budget absorption are from Kellaris, Papadopoulos, Xiao and Papadias,
"Differentially Private Event Sequences over Infinite Streams" (VLDB 2014); FAST is from Fan and
Xiong, "Adaptively Sharing Time-Series with Differential Privacy" (arXiv 1202.3461); PeGaSus from
Chen, Machanavajjhala, Hay and Miklau, "PeGaSus: Data-Adaptive Differentially Private Stream
Processing" (CCS 2017). The first release of all is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from dpol.core.randomness import Floats
from dpol.privacy.losses import Loss, Promise, largest, pure
from dpol.privacy.noise_laws import LAPLACE

CHANGE = 0.05
"""Standard deviation of a holder's change in a round that FAST assumes, over its capacity.

In the first 20 weeks of three states of config/beyond.yaml it is 0.053 to 0.058.
"""
PROPORTIONAL, INTEGRAL, LAST_ERRORS = 0.9, 0.1, 5
SLOWER, SET_POINT = 10.0, 0.1
"""FAST's control of its sampling, as published: gains, errors in the integral, theta and xi."""
SAMPLED_SHARE = 0.15
"""Share of the rounds of a window that FAST may sample, as published for a whole series."""
PERTURBED_SHARE = 0.8
"""Share of the budget of PeGaSus that its perturber spends; the grouper has the rest."""
THRESHOLD = 100.0
"""Deviation at which PeGaSus closes a group, over the scale of the perturber's noise.

Of 5, 30, 100 and 300, 100 and 300 did best on these 20 weeks.
"""


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """A mechanism for streams, which adds Laplace noise to counts.

    Args:
        title: its noise in words and symbols, as in `Noise`.
        release: maps counts (T, n), capacities (n,), draws (T, k, R, n), epsilon and w to released
            counts (T, R, n).
        draws: k, number of draws of a holder in a round.
        most: maps w to the largest share of epsilon that a single round can spend.
        of_rounds: maps the largest epsilon of a round at one holder, and a number of rounds, to the
            loss of a person in as many, in a row or not, at two holders.
        of_window: the same for a window of w rounds; None for 1 / `most` rounds. So where earlier
            releases alone decide when to release: whoever has as many independent releases that
            count the person can make all others.
        adapts: whether the rounds that spend epsilon depend on the holder's data. If so, a person
            of the unit is at one holder: the expensive rounds of several holders could add up.
        repeats: whether a release may repeat or combine earlier ones.
    """

    title: str
    release: Callable[[Floats, Floats, Floats, float, int], Floats]
    draws: int = 1
    most: Callable[[int], float]
    of_rounds: Callable[[float, int], Loss]
    of_window: Callable[[float, int], Loss] | None = None
    adapts: bool = True
    repeats: bool = True

    def window(self, stay: int, dearest: float) -> Loss:
        """Return the loss of a person in a window, at two holders."""
        if self.of_window is None:
            return self.of_rounds(dearest, round(1 / self.most(stay)))
        return self.of_window(dearest / self.most(stay), stay)

    def dearest(self, promise: Promise, stay: int) -> float:
        """Return the largest epsilon of a round at one holder that keeps a promise."""
        return _dearest(self, promise, stay)

    def epsilon(self, promise: Promise, stay: int) -> float:
        """Return the largest epsilon of a window at one holder that keeps a promise."""
        return self.dearest(promise, stay) / self.most(stay)


@lru_cache(maxsize=512)
def _dearest(mechanism: Mechanism, promise: Promise, stay: int) -> float:
    return largest(partial(mechanism.window, stay), promise)


def uniform(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Floats:
    """Release every round with noise for epsilon / w."""
    return x[:, None] + draws[:, 0] * (stay / epsilon)


def sample(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Floats:
    """Release one round in w with noise for epsilon, and repeat it until the next."""
    rounds = np.arange(len(x))
    return np.asarray((x[:, None] + draws[:, 0] / epsilon)[rounds - rounds % stay])


def budget_absorption(
    x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int
) -> Floats:
    """Publish with the budget of all rounds since the last publication, at most w of them.

    A publication that absorbed k rounds is followed by k - 1 rounds without one. Half of epsilon
    decides whether to publish: if the noisy distance to the last publication is above the noise.
    """
    each = epsilon / (2 * stay)
    counts = np.zeros_like(draws[:, 0])
    used = np.full(counts.shape[1:], -1.0)  # the last round whose budget is used or void
    for t in range(len(x)):
        rounds = np.clip(t - used, 0, stay)
        last = counts[t - 1] if t else np.zeros_like(counts[0])
        error = 1 / np.maximum(each * rounds, 1e-300)  # no publication without a budget
        publish = np.abs(x[t] - last) + draws[t, 0] / each > error
        counts[t] = np.where(publish, x[t] + draws[t, 1] * error, last)
        used = np.where(publish, t + rounds - 1, used)
    return counts


def fast(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Floats:
    """Sample when a controller expects change; release what a Kalman filter makes of the samples.

    A window of w rounds has a sampled share of rounds at most, each with an equal part of epsilon;
    a sample that is due waits until its window has room. The derivative's gain is 0, as published.
    """
    most = samples_of(stay)
    noise, process = 2 * (most / epsilon) ** 2, (CHANGE * capacity) ** 2
    counts, sampled = np.zeros((2, *draws[:, 0].shape))
    estimate, due = np.zeros((2, *counts.shape[1:]))
    variance = np.full_like(estimate, 1e12 * noise)  # nothing is known before the first sample
    errors, interval = np.zeros((LAST_ERRORS, *estimate.shape)), np.ones_like(estimate)
    for t in range(len(x)):
        used = sampled[max(t - stay + 1, 0) : t].sum(axis=0)
        now = sampled[t] = (t >= due) & (used < most)
        variance = variance + process
        gain = np.where(now, variance / (variance + noise), 0.0)
        after = estimate + gain * (x[t] + draws[t, 0] * (most / epsilon) - estimate)
        variance = np.where(now, gain * noise, variance)
        error = np.abs(after - estimate) / np.maximum(after, 1.0)
        errors = np.where(now, np.concatenate([errors[1:], error[None]]), errors)
        signal = PROPORTIONAL * errors[-1] + INTEGRAL * errors.mean(axis=0)
        slower = SLOWER * -np.expm1(np.minimum((signal - SET_POINT) / SET_POINT, 50.0))
        interval = np.where(now, np.maximum(1.0, interval + slower), interval)
        due = np.where(now, t + interval, due)
        counts[t] = estimate = after
    return np.asarray(counts)


def samples_of(stay: int) -> int:
    """Return how many rounds FAST may sample in a window of w rounds."""
    return math.ceil(SAMPLED_SHARE * stay)


def pegasus(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Floats:
    """Release the median of the noisy counts of a group of rounds that seem to be alike.

    A round joins the open group if the group's deviation, with noise, is below a noisy threshold;
    otherwise the group is closed, and the round is a group of its own. The epsilon of PeGaSus is
    for one count, so each round has epsilon / w.
    """
    perturb, decide = (share * epsilon / stay for share in (PERTURBED_SHARE, 1 - PERTURBED_SHARE))
    noisy = x[:, None] + draws[:, 0] / perturb
    counts = np.zeros_like(noisy)
    threshold, first = np.zeros((2, *counts.shape[1:]))
    first, is_open = first.astype(int), np.zeros(first.shape, dtype=bool)
    for t in range(len(x)):
        together = draws[t, 2] * (8 / decide)
        for start in np.unique(first):
            together += np.where(first == start, _deviation(x[start : t + 1]), 0.0)
        joins = is_open & (together < threshold)
        opens = ~is_open
        fresh = THRESHOLD / perturb + draws[t, 1] * (4 / decide)
        threshold = np.where(opens, fresh, threshold)
        first, is_open = np.where(joins, first, t), joins | opens
        for start in np.unique(first):
            own = first == start
            counts[t][own] = _median(noisy[start : t + 1, own])
    return counts


def _deviation(group: Floats) -> Floats:
    """Return the (n,) sums of absolute deviations from the mean of rounds (k, n)."""
    return np.asarray(np.abs(group - group.mean(axis=0)).sum(axis=0))


def _median(group: Floats) -> Floats:
    """Return the (n,) medians of rounds (k, n); np.median takes several times as long on few."""
    ordered, count = np.sort(group, axis=0), len(group)
    return np.asarray((ordered[(count - 1) // 2] + ordered[count // 2]) / 2)


EVERY_ROUND = Mechanism(
    title="√2 / (ε · capacity of i): Laplace noise in every round, with the largest ε for which a"
    " unit of rounds has μ",
    of_rounds=lambda e, rounds: LAPLACE.loss(e, 2 * rounds),
    release=uniform,
    most=lambda stay: 1 / stay,
    adapts=False,
    repeats=False,
)
"""Releases that say nothing of each other."""
OF_ITS_OWN = replace(EVERY_ROUND, adapts=True, repeats=True)
"""Releases when the mechanism decides."""


def _groups(e: float, rounds: int) -> Loss:
    """Return the loss of PeGaSus: Laplace noise in every round, and pure epsilon of the groups."""
    groups = pure((1 - PERTURBED_SHARE) * e * rounds)
    return LAPLACE.loss(PERTURBED_SHARE * e, 2 * rounds) + groups.times(2)


MECHANISMS = {
    "laplace-uniform": EVERY_ROUND,
    "laplace-sample": replace(
        EVERY_ROUND,
        title="Laplace noise on one release in w rounds, repeated until the next",
        release=sample,
        most=lambda stay: 1.0,
        repeats=True,
    ),
    "budget-absorption": replace(
        OF_ITS_OWN,
        title="a release when the count has moved, with the ε of the rounds without one (Kellaris"
        " et al.)",
        release=budget_absorption,
        of_window=lambda epsilon, stay: LAPLACE.loss(epsilon, 2),
        draws=2,
        most=lambda stay: 1 / 2 + 1 / (2 * stay),
    ),
    "fast": replace(
        OF_ITS_OWN,
        title="a Kalman filter of samples, taken when a controller expects change (Fan and Xiong)",
        release=fast,
        most=lambda stay: 1 / samples_of(stay),
    ),
    "pegasus": replace(
        EVERY_ROUND,
        title="medians of groups of rounds that seem to be alike (Chen et al.)",
        of_rounds=_groups,
        release=pegasus,
        draws=3,
        repeats=True,
    ),
}
"""Mechanisms by the name of their noise."""

"""Faults that somebody planted who had not seen the checks: one each, in the form of `planted`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import scipy

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.data.stream import GainStream
from dpol.experts.ftpl import RandomWalkFTPL
from dpol.experts.interface import (
    Actions,
    CentralAlgorithm,
    CuratorSetup,
    LocalAlgorithm,
    LocalSetup,
    Observation,
)
from dpol.experts.limited_updates import BlocksState, LimitedUpdates
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.noisy_max import NoisyMax
from dpol.experts.released_sums import SumsState
from dpol.experts.tree_ftpl import TreeFTPL, TreeState
from dpol.noise.event_streams import (
    EVERY_ROUND,
    MECHANISMS,
    Release,
    budget_distribution,
    samples_of,
    uniform,
)
from dpol.noise.noises import CAPACITY, Noise, noise_of
from dpol.privacy.factorizations import Factorization, fresh_window_sums
from dpol.privacy.guarantee import Guarantee
from dpol.privacy.losses import Draw, Loss, Promise, of_range, one_draw, pure
from dpol.privacy.noise_laws import GAUSSIAN, LAPLACE, Law
from dpol.privacy.tree_noise import next_nodes, tree_levels

FAULTS: dict[str, dict[str, str]] = {}
"""What is wrong, by kind and by name."""


def plant(kind: str, name: str, wrong: str, thing: Any) -> None:
    FAULTS.setdefault(kind, {})[name] = wrong
    globals()[name] = thing


def of(release: Callable[..., Release], **changes: Any) -> Noise:
    """Return a noise as `laplace-uniform`, but for its releases."""
    return noise_of("blind", replace(EVERY_ROUND, release=release, **changes))


def remade(kind: type[Noise], noise: Noise) -> Noise:
    """Return a noise of a subclass with the fields of another noise."""
    return kind(**{it.name: getattr(noise, it.name) for it in fields(noise)})


def by_law(
    sampled: Callable[[float, Floats], Floats],
    *,
    kind: type[Law] = Law,
    draws: int = 1,
    **facts: Any,
) -> Noise:
    """Return a noise of an own law in every round.

    Args:
        sampled: maps the strength of a round and Laplace draws (T, k, R, n) to noise (T, R, n).
        kind: class of the law.
        draws: k.
        facts: fields of the law.
    """
    law = kind(words=f"{facts['name']} noise", **facts)

    def release(x: Floats, capacity: Floats, own: Floats, epsilon: float, stay: int) -> Release:
        counts = x[:, None] + sampled(epsilon / stay, own)
        return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))

    return of(
        release,
        title=f"{facts['name']} noise in every round",
        law=law,
        draws=draws,
        of_rounds=lambda e, rounds: law.loss(e, 2 * rounds),
    )


def share(draws: Floats) -> Floats:
    """Return uniform numbers of standard Laplace draws, their distribution function."""
    tail = np.exp(-np.abs(draws)) / 2
    return np.where(draws < 0, tail, 1 - tail)


def normal(draws: Floats) -> Floats:
    """Return standard normal numbers of standard Laplace draws."""
    return np.asarray(np.copysign(scipy.special.ndtri(np.exp(-np.abs(draws)) / 2), draws))


def logistic(draws: Floats) -> Floats:
    """Return standard logistic numbers of standard Laplace draws."""
    size = np.abs(draws)
    return np.asarray(np.copysign(size + np.log(2 - np.exp(-size)), draws))


def geometric(e: float, draws: Floats) -> Floats:
    """Return discrete Laplace numbers of strength e of standard Laplace draws."""
    size = np.floor((np.abs(draws) + math.log(2 / (1 + math.exp(-e)))) / e)
    return np.asarray(np.sign(draws) * size)


def _whole_persons(
    x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int
) -> Release:
    counts = x[:, None] + draws[:, 0] * np.round(stay / epsilon)
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


plant(
    "a noise, planted blindly",
    "WHOLE_PERSONS",
    "the scale is rounded to whole persons: up to a third too small (1.49 to 1), and no noise at"
    " all for a scale below a half",
    of(_whole_persons),
)


def _folds(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Release:
    noise = draws[:, 0] * (stay / epsilon)
    counts = x[:, None] + np.where(x[:, None] + noise < 0, np.abs(noise), noise)
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


plant(
    "a noise, planted blindly",
    "FOLDS_BELOW_ZERO",
    "where a release would be below 0 its noise changes sign: of an empty place every noise is"
    " positive, and a loss is up to e + log 2",
    of(_folds),
)


def _control_variate(
    x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int
) -> Release:
    noise = draws[:, 0] - draws[:, 0].mean(axis=1, keepdims=True)
    counts = x[:, None] + noise * (stay / epsilon)
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


plant(
    "a noise, planted blindly",
    "CONTROL_VARIATE",
    "noise less its mean over replicates: one replicate has no noise, and the mean of several is"
    " the count",
    of(_control_variate),
)


def _antithetic(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Release:
    noise = draws[:, 0].copy()
    half = noise.shape[1] // 2
    noise[:, half : 2 * half] = -noise[:, :half]
    counts = x[:, None] + noise * (stay / epsilon)
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


plant(
    "a noise, planted blindly",
    "ANTITHETIC",
    "the second half of the replicates has the noise of the first, negated: two replicates give"
    " the count exactly, and are not independent",
    of(_antithetic),
)


def _exact_total(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Release:
    counts = x[:, None] + draws[:, 0] * (stay / epsilon)
    counts[..., -1] = x.sum(axis=1)[:, None] - counts[..., :-1].sum(axis=2)
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


plant(
    "a noise, planted blindly",
    "EXACT_TOTAL",
    "the last place is the exact total less the other releases: the sum shows a person who comes"
    " or goes, mu = inf; the last place has n - 1 times the variance",
    of(_exact_total),
)


def _persistent(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Release:
    noise = draws[:, 0].copy()
    for t in range(1, len(x)):
        noise[t] = 0.5 * noise[t - 1] + math.sqrt(0.75) * draws[t, 0]
    counts = x[:, None] + noise * (stay / epsilon)
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


plant(
    "a noise, planted blindly",
    "PERSISTENT_NOISE",
    "noise that is said to be independent has a correlation of .5 from round to round: whoever"
    " knows the rounds beside sees .77 of the noise, mu 1.3 times as large",
    of(_persistent),
)


def _never_void(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Release:
    each = epsilon / (2 * stay)
    counts, spent = np.zeros((2, *draws[:, 0].shape))
    used = np.full(counts.shape[1:], -1.0)
    for t in range(len(x)):
        last = counts[t - 1] if t else np.zeros_like(counts[0])
        budget = each * np.clip(t - used, 1, stay)
        publish = np.abs(x[t] - last) + draws[t, 0] / each > 1 / budget
        counts[t] = np.where(publish, x[t] + draws[t, 1] / budget, last)
        spent[t] = np.where(publish, budget, 0.0)
        used = np.where(publish, t, used)
    return Release(counts=counts, spent=spent + each)


plant(
    "a noise, planted blindly",
    "NEVER_VOID",
    "budget absorption without the void rounds after a release: w rounds absorbed, then w - 1"
    " releases, 1.5 times the budget of a window",
    noise_of("blind", replace(MECHANISMS["budget-absorption"], release=_never_void)),
)


def _one_draw_twice(
    x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int
) -> Release:
    again = draws.copy()
    again[:, 1] = draws[:, 0]
    return budget_distribution(x, capacity, again, epsilon, stay)


plant(
    "a noise, planted blindly",
    "ONE_DRAW_TWICE",
    "budget distribution decides and publishes with the same draw: a release has a hard lower end"
    " that moves with the count, mu = inf",
    noise_of("blind", replace(MECHANISMS["budget-distribution"], release=_one_draw_twice)),
)


def _fast_true_error(
    x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int
) -> Release:
    most = samples_of(stay)
    noise, process = 2 * (most / epsilon) ** 2, (0.05 * capacity) ** 2
    counts, spent = np.zeros((2, *draws[:, 0].shape))
    estimate, due = np.zeros((2, *counts.shape[1:]))
    variance = np.full_like(estimate, 1e12 * noise)
    interval = np.ones_like(estimate)
    for t in range(len(x)):
        used = (spent[max(t - stay + 1, 0) : t] > 0).sum(axis=0)
        now = (t >= due) & (used < most)
        variance = variance + process
        gain = np.where(now, variance / (variance + noise), 0.0)
        after = estimate + gain * (x[t] + draws[t, 0] * (most / epsilon) - estimate)
        variance = np.where(now, gain * noise, variance)
        error = np.abs(after - x[t]) / np.maximum(x[t], 1.0)
        slower = 10.0 * -np.expm1(np.minimum((error - 0.1) / 0.1, 50.0))
        interval = np.where(now, np.maximum(1.0, interval + slower), interval)
        due = np.where(now, t + interval, due)
        counts[t] = estimate = after
        spent[t] = np.where(now, epsilon / most, 0.0)
    return Release(counts=counts, spent=spent)


plant(
    "a noise, planted blindly",
    "FAST_TRUE_ERROR",
    "FAST's controller reads the error of its estimate against the count itself: the rounds of the"
    " next samples tell the count without a budget, mu = inf",
    noise_of("blind", replace(MECHANISMS["fast"], release=_fast_true_error)),
)


def _group_means(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Release:
    each = epsilon / stay
    counts = np.empty(draws[:, 0].shape)
    for t in range(len(x)):
        first = t - t % 4
        size = t - first + 1
        counts[t] = x[first : t + 1].mean(axis=0) + draws[t, 0] / (each * size)
    return Release(counts=counts, spent=np.full_like(counts, each))


plant(
    "a noise, planted blindly",
    "GROUP_MEANS",
    "means of up to four rounds so far, each with noise for the mean alone: the first round is in"
    " four releases of e each, 1.9 times mu",
    of(_group_means, repeats=True),
)


def _half_stairs(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Release:
    e, width = min(epsilon / stay, 600.0), 0.5
    b, size = math.exp(-e), np.abs(draws[:, 0]) / e
    whole = np.floor(size)
    part = (width + (1 - width) * b) * -np.expm1(-e * (size - whole)) / (1 - b)
    within = np.where(part < width, part, width + (part - width) / b)
    counts = x[:, None] + np.copysign(whole + within, draws[:, 0])
    return Release(counts=counts, spent=np.full_like(counts, e))


plant(
    "a noise, planted blindly",
    "HALF_STAIRS",
    "staircase noise with steps of a half, not of the best width: every loss is e or -e, so mu is"
    " 3% to 10% above the record, and the deviation 13% at strength 3, 37% at 4",
    noise_of("blind", replace(MECHANISMS["staircase"], release=_half_stairs)),
)


def _float16(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Release:
    noise = (draws[:, 0] * (stay / epsilon)).astype(np.float16)
    counts = x[:, None] + noise.astype(float)
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


plant(
    "a noise, planted blindly",
    "FLOAT16",
    "noise is kept in half precision: of a share of the releases only one of two neighbouring"
    " counts could have made the last bits, mu = inf",
    of(_float16),
)


def _reported_late(
    x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int
) -> Release:
    counts = np.roll(x, 1, axis=0)[:, None] + draws[:, 0] * (stay / epsilon)
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


plant(
    "a noise, planted blindly",
    "REPORTED_LATE",
    "each round releases the count of the round before, and round 1, by np.roll, that of the last"
    " round: nobody knows it yet, and no release is of its own round",
    of(_reported_late),
)


def _last_block(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Release:
    rounds = np.arange(len(x))
    whole = len(x) // stay * stay
    source = np.where(rounds < whole, rounds - rounds % stay, rounds)
    counts = (x[:, None] + draws[:, 0] / epsilon)[source]
    spends = (source == rounds)[:, None, None]
    return Release(counts=counts, spent=np.where(spends, epsilon, np.zeros_like(counts)))


plant(
    "a noise, planted blindly",
    "LAST_BLOCK",
    "one release in w rounds, but every round of an incomplete last block is released at the whole"
    " epsilon: up to w - 1 releases for one, 1.6 times mu for w = 4",
    noise_of("blind", replace(MECHANISMS["laplace-sample"], release=_last_block)),
)


def _busiest_wider(stream: GainStream, mu: float) -> Floats:
    scale = CAPACITY.scale(stream, mu).copy()
    scale[:, stream.gains.sum(axis=0).argmax()] *= 1.25
    return scale


plant(
    "a noise, planted blindly",
    "BUSIEST_WIDER",
    "the public scale is a quarter larger at the place with the largest sum of gains of all rounds:"
    " one person can move it, and it is known in round 1, mu = inf",
    replace(CAPACITY, name="blind", scale=_busiest_wider),
)


def _season(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Release:
    noise = draws[np.arange(len(x)) % 13, 0]
    counts = x[:, None] + noise * (stay / epsilon)
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


plant(
    "a noise, planted blindly",
    "SEASON",
    "noise comes again after 13 rounds: the difference of the two releases is exact, mu = inf",
    of(_season),
)


plant(
    "a noise, planted blindly",
    "DEAREST_FORGOTTEN",
    "budget absorption says that a round spends 1/w of epsilon, and it may spend 1/2 + 1/(2w): for"
    " w = 4 a person of one round has 2.5 times the recorded loss",
    noise_of("blind", replace(MECHANISMS["budget-absorption"], most=lambda stay: 1 / stay)),
)


plant(
    "a noise, planted blindly",
    "ONE_HOLDER",
    "the loss counts one holder, and a person who moves is in the counts of two: mu 1.3 to"
    " 1.4 times",
    of(uniform, of_rounds=lambda e, rounds: LAPLACE.loss(e, rounds)),
)


plant(
    "a noise, planted blindly",
    "ROOT_OF_ROUNDS",
    "v rounds are accounted as one of strength e sqrt(v): right for strict mu, but for w = 4 (8)"
    " mu is 6% (9%) above the record of 2, and 14% (21%) above that of 4",
    of(uniform, of_rounds=lambda e, rounds: LAPLACE.loss(e * math.sqrt(rounds), 2)),
)


plant(
    "a noise, planted blindly",
    "NOT_ADAPTING",
    "budget absorption is said not to adapt, so that the record protects a person who changes"
    " place every week: with w = 4 four places spend 2.5 times the window's epsilon",
    noise_of("blind", replace(MECHANISMS["budget-absorption"], adapts=False)),
)


class _HalfMove(Noise):
    def sensitivity(self, stream: GainStream) -> tuple[float, str]:
        return stream.count_sensitivity, "L2, persons"


plant(
    "a noise, planted blindly",
    "HALF_MOVE",
    "the record says that a person moves the counts of a round by 1, and it is sqrt(2): 1.4 times",
    remade(_HalfMove, CAPACITY),
)


class _OneWeeksGuess(Noise):
    def best_guess(self, mu: float, stay: int) -> float:
        made = self.mechanism
        assert made is not None
        return made.of_rounds(made.dearest(Promise(mu=mu), stay), 1).guess


plant(
    "a noise, planted blindly",
    "ONE_WEEKS_GUESS",
    "the best guess about a stay is that about one of its weeks: for w = 8 and mu = 1 it says"
    " 56.4%, right is 69.1%",
    remade(_OneWeeksGuess, of(uniform)),
)


def _capped_at_beds(
    x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int
) -> Release:
    counts = x[:, None] + draws[:, 0] * np.minimum(stay / epsilon, capacity / 4)
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


plant(
    "a noise, planted blindly",
    "CAPPED_AT_BEDS",
    "no scale above a quarter of the beds: a place of 8 beds has 2 where mu = .25 needs 6, three"
    " times mu, and places of 50 have what they need",
    of(_capped_at_beds),
)


def _clipped_draws(
    x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int
) -> Release:
    counts = x[:, None] + np.clip(draws[:, 0], -4, 4) * (stay / epsilon)
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


plant(
    "a noise, planted blindly",
    "CLIPPED_DRAWS",
    "noise is cut at four scales: with probability 1.8% a release lies at an end, which gives the"
    " count, mu = inf",
    of(_clipped_draws),
)


def _two_draws(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Release:
    noise = (draws[:, 0] + draws[:, 1]) / math.sqrt(2)
    counts = x[:, None] + noise * (stay / epsilon)
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


plant(
    "a noise, planted blindly",
    "TWO_DRAWS",
    "the noise is the mean of two draws, with the right deviation: it falls as exp(-sqrt(2) e |z|),"
    " so losses reach 1.41 times the e of the record",
    of(_two_draws, draws=2),
)


def _few_hidden(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Release:
    noisy = x[:, None] + draws[:, 0] * (stay / epsilon)
    counts = np.where(x[:, None] < 3, 3.0, noisy)
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


plant(
    "a noise, planted blindly",
    "FEW_HIDDEN",
    "counts below 3 are released as 3 without noise: whether a third person is there is certain,"
    " mu = inf",
    of(_few_hidden),
)


def _quiet_weeks(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Release:
    counts = x[:, None] + draws[:, 0] * (stay / epsilon)
    for t in range(1, len(x)):
        quiet = np.abs(x[t] - x[t - 1]) < 1
        counts[t] = np.where(quiet, counts[t - 1], counts[t])
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


plant(
    "a noise, planted blindly",
    "QUIET_WEEKS",
    "a count that has not changed repeats its last release, to save budget: a repeat says for"
    " certain that nobody came or went, mu = inf",
    of(_quiet_weeks, repeats=True),
)


def _by_root_of_runs(
    x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int
) -> Release:
    noise = draws[:, 0] / math.sqrt(draws.shape[2])
    counts = x[:, None] + noise * (stay / epsilon)
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


plant(
    "a noise, planted blindly",
    "BY_ROOT_OF_RUNS",
    "noise is divided by the root of the number of replicates: of 100 a tenth is left, mu 10 times",
    of(_by_root_of_runs),
)


def _first_weeks(x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int) -> Release:
    weeks = np.minimum(np.arange(len(x)) + 1, stay)[:, None, None]
    counts = x[:, None] + draws[:, 0] * (weeks / epsilon)
    return Release(counts=counts, spent=np.broadcast_to(epsilon / weeks, counts.shape))


plant(
    "a noise, planted blindly",
    "FIRST_WEEKS",
    "before a whole window has passed, round t has noise for t weeks: the first w rounds spend"
    " epsilon (1 + 1/2 + ... + 1/w), for w = 4 mu 2.2 times, and that of round 1 alone 3.5 times",
    of(_first_weeks),
)


def _gauss_for_laplace(
    x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int
) -> Release:
    noise = math.sqrt(2) * normal(draws[:, 0])
    counts = x[:, None] + noise * (stay / epsilon)
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


plant(
    "a noise, planted blindly",
    "GAUSS_FOR_LAPLACE",
    "Gaussian noise of the deviation of Laplace noise under a record of Laplace noise: no pure"
    " epsilon holds, and a loss passes e with a probability of up to a half (.09 for small e)",
    of(_gauss_for_laplace),
)


plant(
    "a new law, planted blindly",
    "STANDARD_LOGISTIC",
    "logistic noise is scaled to the deviation 1/e, and its loss is that of scale 1/e: the true"
    " strength is pi / sqrt(3) = 1.81 times e",
    by_law(
        lambda e, d: logistic(d[:, 0]) * math.sqrt(3) / (math.pi * e),
        name="standard logistic",
        deviation_of=lambda e: 1 / e,
        loss_of=of_range,
    ),
)


plant(
    "a new law, planted blindly",
    "SECH",
    "hyperbolic secant noise falls as exp(-pi e |z| / 2), and its loss is said to be at most e: it"
    " is 1.57 e",
    by_law(
        lambda e, d: np.log(np.tan(math.pi / 2 * share(d[:, 0]))) * 2 / (math.pi * e),
        name="hyperbolic secant",
        deviation_of=lambda e: 1 / e,
        loss_of=pure,
    ),
)


def _own_lattice(e: float, draws: Floats) -> Floats:
    step = 0.1 * math.sqrt(2) / e
    return step * geometric(e * step, draws[:, 0])


plant(
    "a new law, planted blindly",
    "OWN_LATTICE",
    "discrete Laplace noise on steps of a tenth of a deviation, of which a person is no whole"
    " number: each release shows the count by its rest, mu = inf",
    by_law(
        _own_lattice,
        name="gridded Laplace",
        deviation_of=lambda e: math.sqrt(2) / e,
        loss_of=pure,
    ),
)


def _two_zeros(e: float, draws: Floats) -> Floats:
    return np.asarray(np.sign(draws[:, 0]) * np.floor(np.abs(draws[:, 0]) / e))


plant(
    "a new law, planted blindly",
    "TWO_ZEROS",
    "discrete Laplace noise as a sign times a geometric number: 0 comes twice as often as it may,"
    " so losses reach e + log 2 where the law says e",
    by_law(
        _two_zeros,
        name="signed geometric",
        deviation_of=lambda e: math.sqrt(math.exp(-e) * (1 + math.exp(-e))) / -math.expm1(-e),
        loss_of=pure,
    ),
)


plant(
    "a new law, planted blindly",
    "STUDENT",
    "Student noise of three degrees with the loss of Gaussian noise of the same deviation: its"
    " peak is 1.6 times as high, and so is mu",
    by_law(
        lambda e, d: scipy.special.stdtrit(3, share(d[:, 0])) / (math.sqrt(3) * e),
        name="Student",
        deviation_of=lambda e: 1 / e,
        loss_of=lambda e: Loss(gaussian=e),
    ),
)


def _triangular(e: float, draws: Floats) -> Floats:
    side = 1 - np.exp(-np.abs(draws[:, 0]) / 2)
    return np.asarray(np.copysign(math.sqrt(6) / e * side, draws[:, 0]))


plant(
    "a new law, planted blindly",
    "TRIANGULAR",
    "triangular noise with the loss of Gaussian noise of its deviation: it ends at 2.4 deviations,"
    " so a release is certain with a probability of e^2 / 12, mu = inf",
    by_law(
        _triangular,
        name="triangular",
        deviation_of=lambda e: 1 / e,
        loss_of=lambda e: Loss(gaussian=e),
    ),
)


plant(
    "a new law, planted blindly",
    "THREE_UNIFORMS",
    "a sum of three uniform numbers stands for a Gaussian one: it ends at 3 deviations, so a"
    " release is certain with a probability of e^3 / 48 (2% for e = 1), mu = inf",
    by_law(
        lambda e, d: (2 * share(d).sum(axis=1) - 3) / e,
        name="nearly Gaussian",
        deviation_of=lambda e: 1 / e,
        loss_of=lambda e: Loss(gaussian=e),
        draws=3,
    ),
)


plant(
    "a new law, planted blindly",
    "LARGEST_OF_GAUSSIAN",
    "a law with Laplace losses has the `largest_of` of Gaussian noise, mu / sqrt(v): that"
    " strength breaks the promise by up to 18% (one release, mu = .25)",
    by_law(
        lambda e, d: d[:, 0] / e,
        name="double exponential",
        deviation_of=LAPLACE.deviation_of,
        loss_of=LAPLACE.loss_of,
        largest_of=GAUSSIAN.largest_of,
    ),
)


class _HoldersOnce(Law):
    def loss(self, e: float, releases: int) -> Loss:
        return self.loss_of(e).times(max(1, releases // 2))


plant(
    "a new law, planted blindly",
    "HOLDERS_ONCE",
    "two releases are composed as one, because a round is thought to be one release: mu 1.3"
    " (one round) to 1.4 times",
    by_law(
        lambda e, d: logistic(d[:, 0]) / e,
        kind=_HoldersOnce,
        name="logistic",
        deviation_of=lambda e: math.pi / (math.sqrt(3) * e),
        loss_of=of_range,
    ),
)


plant(
    "a new law, planted blindly",
    "SWAPPED_ENDS",
    "Laplace noise whose masses at the ends and between are exchanged (log 4 and log 2): mu is"
    " 9% to 24% above what the law says",
    by_law(
        lambda e, d: d[:, 0] / e,
        name="own Laplace",
        deviation_of=LAPLACE.deviation_of,
        loss_of=lambda e: one_draw(Draw(e=e, ends=-math.log(4), between=-math.log(2))),
    ),
)


def _gumbel(e: float, draws: Floats) -> Floats:
    return np.asarray((-np.log(-np.log(share(draws[:, 0]))) - np.euler_gamma) / e)


plant(
    "a new law, planted blindly",
    "GUMBEL",
    "Gumbel noise on the counts with the loss of a choice by Gumbel noise (a range of e): of one"
    " release mu is 1.47 times as large for small e, and no bound on losses holds",
    by_law(
        _gumbel,
        name="Gumbel",
        deviation_of=lambda e: math.pi / (math.sqrt(6) * e),
        loss_of=of_range,
    ),
)


_QUANTILES = np.log(np.arange(0.5, 1000) / (1000 - np.arange(0.5, 1000)))


def _quantile_table(e: float, draws: Floats) -> Floats:
    return np.asarray(_QUANTILES[np.floor(1000 * share(draws[:, 0])).clip(0, 999).astype(int)] / e)


plant(
    "a new law, planted blindly",
    "QUANTILE_TABLE",
    "logistic noise from a table of 1,000 quantiles: only one count can have made a release,"
    " mu = inf, and the distribution looks right",
    by_law(
        _quantile_table,
        name="tabulated logistic",
        deviation_of=lambda e: math.pi / (math.sqrt(3) * e),
        loss_of=of_range,
    ),
)


plant(
    "a new law, planted blindly",
    "SAME_VARIANCE",
    "Laplace noise with the loss of Gaussian noise of the same deviation, e / sqrt(2): mu is 1.41"
    " (many releases) to 1.77 times (one) as large",
    by_law(
        lambda e, d: d[:, 0] / e,
        name="Laplace by variance",
        deviation_of=LAPLACE.deviation_of,
        loss_of=lambda e: Loss(gaussian=e / math.sqrt(2)),
    ),
)


plant(
    "a new law, planted blindly",
    "GEOMETRIC_DEVIATION",
    "discrete Laplace noise that says the deviation of continuous noise, sqrt(2) / e: it is right"
    " at small e, and 1.4 times too large at e = 3",
    by_law(
        lambda e, d: geometric(e, d[:, 0]),
        name="geometric",
        deviation_of=lambda e: math.sqrt(2) / e,
        loss_of=pure,
    ),
)


def _asymmetric(e: float, draws: Floats) -> Floats:
    u = share(draws[:, 0])
    low = 1.1 * np.log(np.minimum(u, 0.55) / 0.55)
    return np.asarray(np.where(u < 0.55, low, -0.9 * np.log((1 - u) / 0.45)) / e)


plant(
    "a new law, planted blindly",
    "ASYMMETRIC",
    "Laplace noise that is a tenth wider below and a tenth narrower above: losses reach 1.11 e, and"
    " the mean is -.2 / e",
    by_law(
        _asymmetric,
        name="skew Laplace",
        deviation_of=lambda e: math.sqrt(2.02) / e,
        loss_of=LAPLACE.loss_of,
    ),
)


@dataclass(frozen=True)
class TreeShort(TreeFTPL):
    def init(self, setup: CuratorSetup) -> TreeState:
        state, levels = super().init(setup), tree_levels(setup.n_rounds)
        node = state.node_scale * math.sqrt(max(levels - 1, 0) / max(levels, 1))
        return replace(state, total_scale=0.0, node_scale=node)


plant(
    "an algorithm, planted blindly",
    "TreeShort",
    "the noise of a node is for one level fewer than a round enters, and prefixes are not padded:"
    " sqrt(L / (L - 1)), 15% too little at 16 rounds, 10% at 40",
    TreeShort,
)


@dataclass(frozen=True)
class _Levels(TreeState):
    levels: dict[int, Floats] = field(default_factory=dict)


@dataclass(frozen=True)
class LevelsOnce(TreeFTPL):
    def init(self, setup: CuratorSetup) -> TreeState:
        return _Levels(**{**vars(super().init(setup)), "total_scale": 0.0})

    def step(self, state: Any, observation: Any, generators: ReplicateGenerators) -> Any:
        if observation is not None:
            noise = state.node_scale * generators.standard_normal(observation.gains.shape[1])
            nodes = next_nodes(state.nodes, state.relative * noise)
            nodes |= {level: state.levels.get(level, own) for level, own in nodes.items()}
            prefix = state.prefix + observation.gains
            state = replace(state, prefix=prefix, nodes=nodes, levels={**nodes, **state.levels})
        return super().step(state, None, generators)


plant(
    "an algorithm, planted blindly",
    "LevelsOnce",
    "the noise of a level is drawn once and is that of all its nodes: two nodes of a level differ"
    " by their exact sums, mu = inf (prefixes are not padded)",
    LevelsOnce,
)


@dataclass(frozen=True)
class WindowShort(NoisyMax):
    window: int = 3

    def factorization(self, n_rounds: int) -> Factorization:
        return fresh_window_sums(n_rounds, max(self.window - 1, 1))


plant(
    "an algorithm, planted blindly",
    "WindowShort",
    "the noise is for one round fewer than the window sums: a round enters three releases, and two"
    " are paid, 22% too little",
    WindowShort,
)


@dataclass(frozen=True)
class Undiscounted(MatrixFTPL):
    decay: float = 0.9

    def absorb(self, state: SumsState, gains: Floats) -> SumsState:
        return replace(state, sums=state.sums + gains)


plant(
    "an algorithm, planted blindly",
    "Undiscounted",
    "sums of all rounds with the noise of discounted sums: an old round still counts whole where"
    " the noise has forgotten it, mu 1.3 times in 10 rounds and 1.9 times in 40",
    Undiscounted,
)


@dataclass(frozen=True)
class BlocksKept(LimitedUpdates):
    def step(
        self, state: BlocksState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[BlocksState, Actions]:
        after, played = super().step(state, observation, generators)
        gains = 0.0 if observation is None else observation.gains
        return replace(after, sums=state.sums + gains), played


plant(
    "an algorithm, planted blindly",
    "BlocksKept",
    "sums go on over all blocks, and the loss is that of one draw: round 1 enters every later draw,"
    " four of them in 31 rounds, 1.9 times mu",
    BlocksKept,
)


@dataclass(frozen=True)
class RoundedWeights(LimitedUpdates):
    def step(
        self, state: BlocksState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[BlocksState, Actions]:
        rounds, sums = state.rounds, state.sums
        if observation is not None:
            rounds, sums = rounds + 1, sums + observation.gains
        state = replace(state, rounds=rounds, sums=sums)
        uniform_number = generators.uniform()
        if rounds & (rounds + 1):
            return state, state.played
        best = sums - sums.max(axis=1, keepdims=True)
        weights = np.exp(best / state.scale) if state.scale else (best == 0).astype(float)
        weights = np.round(weights / weights.sum(axis=1, keepdims=True), 2)
        steps = np.cumsum(weights, axis=1)
        aim = (uniform_number * steps[:, -1])[:, None]
        played = (steps[:, :-1] <= aim).sum(axis=1).astype(np.int32)
        return replace(state, played=played, sums=np.zeros_like(sums)), played


plant(
    "an algorithm, planted blindly",
    "RoundedWeights",
    "the probabilities of the exponential mechanism are rounded to percents: an expert below half a"
    " percent is never played, so one person makes an action possible, mu = inf",
    RoundedWeights,
)


@dataclass(frozen=True)
class LaplaceWindow(NoisyMax):
    window: int = 8

    def step(
        self, state: SumsState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[SumsState, Actions]:
        if not len(state.noise):
            made = state.mechanism
            shape = made.factorization.n_rounds, len(made.scale)
            each = [it.laplace(size=shape) / math.sqrt(2) for it in generators.generators]
            deviations = made.factorization.row_norms[:, None] * made.scale
            noise = np.stack([one * deviations for one in each], axis=1)
            state = replace(state, noise=noise)
        return super().step(state, observation, generators)


plant(
    "an algorithm, planted blindly",
    "LaplaceWindow",
    "Laplace noise with the deviation and the record of Gaussian noise: mu is 1.2 to 1.4 times as"
    " large for a person in eight sums",
    LaplaceWindow,
)


@dataclass(frozen=True, kw_only=True)
class _Kept:
    sums: SumsState
    leader: Actions
    played: Actions


@dataclass(frozen=True)
class LeaderChanged(CentralAlgorithm[_Kept]):
    def init(self, setup: CuratorSetup) -> _Kept:
        none = np.zeros(setup.n_replicates, dtype=np.int32)
        return _Kept(sums=MatrixFTPL().init(setup), leader=none - 1, played=none)

    def step(
        self, state: _Kept, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[_Kept, Actions]:
        sums, noisy = MatrixFTPL().step(state.sums, observation, generators)
        leader = sums.sums.argmax(axis=1).astype(np.int32)
        played = np.where(leader == state.leader, state.played, noisy).astype(np.int32)
        return _Kept(sums=sums, leader=leader, played=played), played

    def guarantee(self, setup: CuratorSetup) -> Guarantee:
        return MatrixFTPL().guarantee(setup)


plant(
    "an algorithm, planted blindly",
    "LeaderChanged",
    "the noisy leader is looked up only in rounds in which the true one changes: a new action gives"
    " such a round away for certain, mu = inf",
    LeaderChanged,
)


@dataclass(frozen=True)
class RootOfStays(TreeFTPL):
    def guarantee(self, setup: CuratorSetup) -> Guarantee:
        mu = self.achieved_mu(setup)
        name = "Gaussian noise on tree-aggregated prefix sums"
        return setup.guarantee(name, mu, lambda rounds: mu * math.sqrt(rounds / setup.stay))


plant(
    "an algorithm, planted blindly",
    "RootOfStays",
    "the record of v rounds grows as the root of v, as for independent noise; rounds of a stay add"
    " up in the nodes of a tree: for 8 rounds in a row of 40 it is 2.1 times too small",
    RootOfStays,
)


@dataclass(frozen=True)
class TiesBySums(MatrixFTPL):
    def scores(self, state: SumsState) -> Floats:
        return np.asarray(np.round(state.released, 1) + 1e-6 * state.sums)


plant(
    "an algorithm, planted blindly",
    "TiesBySums",
    "released sums are rounded to one digit, and ties go to the larger raw sum: in such rounds the"
    " action compares raw sums without noise, mu = inf",
    TiesBySums,
)


@dataclass(frozen=True)
class TopTwo(MatrixFTPL):
    def scores(self, state: SumsState) -> Floats:
        second = np.sort(state.sums, axis=1)[:, -2:-1]
        return np.where(state.sums >= second, state.released, -np.inf)


plant(
    "an algorithm, planted blindly",
    "TopTwo",
    "only the two raw leaders compete with noise: the third is never played, so whoever makes it"
    " second is seen for certain, mu = inf; two experts play as they should",
    TopTwo,
)


@dataclass(frozen=True)
class SharesOfTheBest(MatrixFTPL):
    def absorb(self, state: SumsState, gains: Floats) -> SumsState:
        best = gains.max(axis=1, keepdims=True)
        return super().absorb(state, gains / np.maximum(best, 1e-3))


plant(
    "an algorithm, planted blindly",
    "SharesOfTheBest",
    "gains are divided by the best of their round, and the noise is for gains as they are: where"
    " the best is .1 a person moves sums by ten times as much, mu 10 times",
    SharesOfTheBest,
)


@dataclass(frozen=True)
class HalfTheRounds(MatrixFTPL):
    def init(self, setup: CuratorSetup) -> SumsState:
        state = super().init(setup)
        return replace(state, mechanism=replace(state.mechanism, scale=state.mechanism.scale / 2))

    def step(
        self, state: SumsState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[SumsState, Actions]:
        coins = generators.uniform() < 0.5
        if observation is not None:
            observation = replace(observation, gains=observation.gains * coins[:, None])
        return super().step(state, observation, generators)


plant(
    "an algorithm, planted blindly",
    "HalfTheRounds",
    "each round enters with probability 1/2, so mu is thought to be halved, and the noise is: half"
    " of the people have twice the mu, which tails show (for mu = 2, 1.6 times at 10^-4)",
    HalfTheRounds,
)


@dataclass(frozen=True)
class ShrinksAcrossRuns(RandomWalkFTPL):
    def step(
        self, state: Floats, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[Floats, Actions]:
        if observation is not None:
            gains = observation.gains
            shrunk = 0.5 * gains + 0.5 * gains.mean(axis=0, keepdims=True)
            observation = replace(observation, gains=shrunk)
        return super().step(state, observation, generators)


plant(
    "an algorithm, planted blindly",
    "ShrinksAcrossRuns",
    "a local learner shrinks gains to their mean over axis 0, the replicates, not the experts: with"
    " R of them an action reads R releases of each count, up to sqrt(R) mu",
    ShrinksAcrossRuns,
)


_SEEN: dict[tuple[int, ...], Floats] = {}


@dataclass(frozen=True)
class RemembersGames(LocalAlgorithm[tuple[int, Floats]]):
    def init(self, setup: LocalSetup) -> tuple[int, Floats]:
        return 0, setup.initial

    def step(
        self,
        state: tuple[int, Floats],
        observation: Observation | None,
        generators: ReplicateGenerators,
    ) -> tuple[tuple[int, Floats], Actions]:
        rounds, sums = state
        if observation is not None:
            key = rounds, *sums.shape
            sums = _SEEN.setdefault(key, sums + observation.gains)
        return (rounds + 1, sums), sums.argmax(axis=1).astype(np.int32)


plant(
    "an algorithm, planted blindly",
    "RemembersGames",
    "a local learner keeps the sums of a round in a dictionary of the module: the next game of the"
    " same size plays the first one's table, whose people its record does not count",
    RemembersGames,
)

"""Black-box audits: what the outputs of a mechanism prove about its privacy.

A mechanism runs on two adjacent inputs. On one half of the runs, an event is chosen that tells the
inputs apart. On the other half the event is counted, and Clopper-Pearson bounds on its two error
rates give a lower confidence bound on the privacy parameter. A bound above the claim refutes the
claim. A bound below it proves nothing, unless the runs suffice for a bound near the claim. Of noise
that is known to be Gaussian, the covariance gives a sharper bound.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from dpol.core.arguments import check_choice, check_number, real_array
from dpol.core.intervals import clopper_pearson_upper
from dpol.core.randomness import Floats

Parameter = Literal["mu", "epsilon"]
"""Parameter of a claim: `mu` of Gaussian DP, or `epsilon`."""
Method = Literal["event", "covariance", "exact"]
"""Method of a bound: `audit_runs`, `audit_covariance`, or a computed loss."""
Verdict = Literal["consistent", "violated"]
# Kind of event: a column of the statistics, its sign, and which input the event speaks for.
_Side = tuple[int, int, bool]

# Number of thresholds tried; with more, the best one wins by luck.
_THRESHOLDS = 129
# Events are compared by bounds with this much less error: a rare event may look good by luck.
_CAUTION = 1e-3
# Added to the diagonal of a correlation matrix: noise that cancels makes it singular.
_RIDGE = 1e-9
# A computed loss may exceed its claim by rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """Result of an audit.

    Args:
        parameter: `mu` of Gaussian DP, or `epsilon`.
        claimed: claim that was audited.
        lower_bound: lower bound on the parameter; 0 if the audit shows nothing.
        confidence: probability that a sound mechanism's bound is below its parameter; 1 if the
            loss was computed.
        runs: number of runs on each input; 0 if the loss was computed.
        method: method that gave the bound.
        delta: delta of `epsilon`; 0 for `mu`.

    >>> AuditResult(parameter="epsilon", claimed=1.0, lower_bound=1.05).verdict
    'violated'
    """

    parameter: Parameter
    claimed: float
    lower_bound: float
    confidence: float = 1.0
    runs: int = 0
    method: Method = "exact"
    delta: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """The verdict on the claim, see `verdict_on`."""
        return verdict_on(self.lower_bound, requested=self.claimed)


def verdict_on(lower_bound: float, *, requested: float, recorded: float | None = None) -> Verdict:
    """Return the verdict on the claim of a mechanism: the smaller of requested and recorded.

    Args:
        lower_bound: what its outputs prove.
        requested: the parameter that was asked for.
        recorded: the parameter that its record claims; None for what was requested.

    Returns:
        `violated` if the outputs exceed the claim, or the record admits more than was requested.

    >>> verdict_on(0.9, requested=1.0), verdict_on(0.9, requested=1.0, recorded=0.8)
    ('consistent', 'violated')
    """
    recorded = requested if recorded is None else recorded
    wrong = exceeds(recorded, requested) or exceeds(lower_bound, min(requested, recorded))
    return "violated" if wrong else "consistent"


def exceeds(value: float, claimed: float) -> bool:
    """Return whether a value exceeds a claim by more than rounding.

    >>> exceeds(1.0 + 1e-12, 1.0), exceeds(1.001, 1.0)
    (False, True)
    """
    return not value <= claimed * (1 + _ROUNDING)


def audit_runs(
    first: Floats,
    second: Floats,
    *,
    parameter: Parameter,
    claimed: float,
    confidence: float = 0.95,
    delta: float = 0.0,
) -> AuditResult:
    """Audit a claim by runs on two adjacent inputs.

    For every event and either role of the inputs, mu >= Phi^-1(1 - FPR) - Phi^-1(FNR) and epsilon
    >= log((1 - delta - FNR) / FPR). Each rate is bounded with half of the error 1 - confidence.

    Args:
        first: (n,) or (n, k) test statistics of independent runs on one input. The event, one of
            the k statistics above or below a threshold, is chosen on the first half of the runs and
            counted on the other half.
        second: (m,) or (m, k) statistics of runs on the other input, independent of the first.
        parameter: `mu` or `epsilon`.
        claimed: claim to audit; inf claims nothing.
        confidence: confidence of the lower bound, in (0, 1).
        delta: delta of an epsilon claim, in [0, 1).

    Raises:
        ValueError: a shape or range is wrong, a statistic is not finite, or there are fewer
            than 4 runs.

    >>> rng = np.random.default_rng(1)
    >>> first, second = rng.normal(0, 1, 20_000), rng.normal(1, 1, 20_000)
    >>> audit_runs(first, second, parameter="mu", claimed=1.0).verdict
    'consistent'
    >>> audit_runs(first, second, parameter="mu", claimed=0.5).verdict
    'violated'
    """
    first, second = _checked(first, second)
    check_choice("parameter", parameter, ("mu", "epsilon"))
    check_number("claimed", claimed, "[0, inf]")
    check_number("confidence", confidence, "(0, 1)")
    check_number("delta", delta, "[0, 1)")

    def bound(null: Floats, other: Floats, thresholds: ArrayLike, error: float) -> Floats:
        """Return the bounds by the events above each threshold; each rate may fail by `error`."""
        positive = len(null) - np.searchsorted(np.sort(null), thresholds, side="right")
        negative = np.searchsorted(np.sort(other), thresholds, side="right")
        false_positive = clopper_pearson_upper(positive, len(null), error)
        false_negative = clopper_pearson_upper(negative, len(other), error)
        if parameter == "mu":
            lower = -scipy.special.ndtri(false_positive) - scipy.special.ndtri(false_negative)
        else:
            power = np.maximum(1 - delta - false_negative, np.finfo(float).tiny)
            lower = np.log(power / false_positive)
        return np.maximum(lower, 0.0)

    error = (1 - confidence) / 2
    cautious = partial(bound, error=error * _CAUTION)
    side, threshold = _choose(selection_half(first), selection_half(second), cautious)
    counted = _seen_from(side, first[len(first) // 2 :], second[len(second) // 2 :])
    lower = float(bound(*counted, threshold, error))
    runs = min(len(first), len(second))
    return AuditResult(
        parameter=parameter,
        claimed=claimed,
        lower_bound=lower,
        confidence=confidence,
        runs=runs,
        method="event",
        delta=delta,
    )


def audit_covariance(
    outputs: Sequence[Floats], changes: Floats, *, claimed: float, confidence: float = 0.95
) -> AuditResult:
    """Audit a mu claim by the covariance of the outputs, assumed to be Gaussian.

    This assumption is not audited. With it an audit is sharper than by events: it sees every
    coordinate, and few runs show a small fault.

    If outputs are N(m, C), with the same C for every input, and one change moves m by d, then
    mu = sqrt(d' C^-1 d). Let S be the sum of squares and products with f degrees of freedom in p
    coordinates. Then d' C^-1 d over d' S^-1 d has a chi-squared distribution with f - p + 1 degrees
    of freedom (Wishart), whose quantile gives an exact bound for every change; Bonferroni over the
    changes. Noise that is missing in a coordinate, too small, or used twice makes the bound large.

    Args:
        outputs: (n, p) outputs of independent runs, an array for each of several inputs.
        changes: (k, p) moves of the mean between neighbours, one row per change.
        claimed: claim to audit; inf claims nothing.
        confidence: confidence of the lower bound, in (0, 1).

    Raises:
        ValueError: a number is out of range, or the runs are too few.

    >>> noise = np.random.default_rng(2).standard_normal((2, 5000, 3))
    >>> changes = np.eye(3)
    >>> audit_covariance(noise, changes, claimed=1.0).verdict
    'consistent'
    >>> audit_covariance(0.9 * noise, changes, claimed=1.0).verdict
    'violated'
    """
    check_number("claimed", claimed, "[0, inf]")
    check_number("confidence", confidence, "(0, 1)")
    size = changes.shape[1]
    runs = min(len(sample) for sample in outputs)
    freedom = sum(len(sample) - 1 for sample in outputs) - size + 1
    if freedom < 1:
        raise ValueError(f"{runs} runs are too few for {size} coordinates")
    centred = (sample - sample.mean(axis=0) for sample in outputs)
    squares = sum(np.einsum("ni,nj->ij", x, x, optimize=True) for x in centred)
    ratios = np.einsum("kp,pk->k", changes, directions(squares, changes.T))
    quantile = 2 * float(scipy.special.gammaincinv(freedom / 2, (1 - confidence) / len(changes)))
    lower = math.sqrt(float(ratios.max()) * quantile)
    return AuditResult(
        parameter="mu",
        claimed=claimed,
        lower_bound=lower,
        confidence=confidence,
        runs=runs,
        method="covariance",
    )


def selection_half(outputs: Floats) -> Floats:
    """Return the runs that may choose events and statistics: the first half of (n, ...)."""
    return outputs[: len(outputs) // 2]


def with_fitted_direction(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Reduce the (n, d) outputs of two inputs to a fitted linear statistic, (n, 1) each.

    The direction is Fisher's discriminant of the selection half. For Gaussian noise the statistic
    tends to the log likelihood ratio; it also finds combinations of outputs whose noise cancels.
    """
    one, other = selection_half(first), selection_half(second)
    pooled = np.atleast_2d(np.cov(np.concatenate([one - one.mean(0), other - other.mean(0)]).T))
    direction = directions(pooled, other.mean(axis=0) - one.mean(axis=0))
    return (first @ direction)[:, None], (second @ direction)[:, None]


def directions(squares: Floats, changes: Floats) -> Floats:
    """Return the inverse of a (d, d) covariance times changes (d,) or (d, k), in any units.

    Each coordinate is divided by its own deviation before a ridge is added; without noise by its
    largest change.
    """
    noise, moved = np.sqrt(np.diag(squares)), abs(changes.T).reshape(-1, len(squares)).max(axis=0)
    scale = np.select([noise > 0, moved > 0], [noise, moved], 1.0)
    ridge = _RIDGE * np.eye(len(scale))
    scaled = np.linalg.solve(squares / np.outer(scale, scale) + ridge, (changes.T / scale).T)
    return np.asarray((scaled.T / scale).T)


def _seen_from(side: _Side, first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Return the (n,) statistics of the input that the events speak against, and of the other."""
    column, sign, swapped = side
    null, other = (second, first) if swapped else (first, second)
    return sign * null[:, column], sign * other[:, column]


def _choose(
    first: Floats, second: Floats, bound: Callable[[Floats, Floats, Floats], Floats]
) -> tuple[_Side, float]:
    """Return the event with the largest lower bound on the runs of the selection half."""
    events = []
    for side in itertools.product(range(first.shape[1]), (1, -1), (False, True)):
        null, other = _seen_from(side, first, second)
        thresholds = _candidates(np.concatenate([null, other]))
        bounds = bound(null, other, thresholds)
        at = int(bounds.argmax())
        events.append((float(bounds[at]), side, float(thresholds[at])))
    return max(events, key=lambda event: event[0])[1:]


def _candidates(values: Floats) -> Floats:
    """Return all values if there are few, else evenly spread quantiles."""
    different = np.unique(values)
    if len(different) <= _THRESHOLDS:
        return different
    return np.unique(np.quantile(values, np.linspace(0, 1, _THRESHOLDS)))


def _checked(*statistics: Floats) -> list[Floats]:
    """Return the statistics of both inputs as (n, k)."""
    # Truth values are statistics: they say whether an event happened.
    arrays = [real_array("statistics", np.add(values, 0.0)) for values in statistics]
    tables = [array[:, None] if array.ndim == 1 else array for array in arrays]
    for table in tables:
        if table.ndim != 2 or len(table) < 4 or not table.shape[1]:
            raise ValueError(f"at least 4 runs (n,) or (n, k) are needed, got {table.shape}")
        if not np.isfinite(table).all():
            raise ValueError("statistics must be finite; clip those that are infinite")
    one, other = (table.shape[1] for table in tables)
    if one != other:
        raise ValueError(f"{one} statistics of one input, {other} of the other")
    return tables

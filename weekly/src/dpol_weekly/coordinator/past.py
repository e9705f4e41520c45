"""Earlier predictions: the last weeks of them, for a picture, and scores of all.

A coordinator knows no true share. So a later noisy report is compared with the law that was
predicted for it: that of the true share, and the noise on it. The scores are proper: no other law
has a better expected score than the right one. WIS: Bracher et al., "Evaluating epidemic forecasts
in an interval format" (2021). PIT: Dawid, "Statistical theory: the prequential approach" (1984).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpol.core.intervals import NORMAL_90
from dpol.core.randomness import Floats
from dpol_weekly.coordinator.evidence import Reports
from dpol_weekly.coordinator.game import Law
from dpol_weekly.deployment import Deployment

WEEKS = 12
"""Periods that a picture shows, and whose choices are weighed."""
ALPHAS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The intervals of WIS hold 1 minus so much."""
_BINS = 10
_DRAWS = 50, 2_000, 300_000  # of a period: the fewest, the most, and in all numbers


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Scores of predictions, by the reports that came after them.

    Args:
        reports: how many were compared: all but the first one of each entity.
        inside: share of them in the 90% interval of a noisy report.
        wis: their mean weighted interval score, in shares, or in counts if the question asks for
            these; 0 would be exact.
        pit: share of the reports in each tenth of the predicted law; 0.1 each if it is right.
        expected: expected gain of the last choices as a share of the possible gain: 0 for random
            ones, 1 for the best of every period; None if all entities are named.
    """

    reports: int
    inside: float
    wis: float
    pit: tuple[float, ...]
    expected: float | None


@dataclass(frozen=True, eq=False, kw_only=True)
class History:
    """The last periods, (W, n) each: shares, or counts if the question asks for these.

    Args:
        seen: what was reported; NaN without a report.
        noise: standard deviation of the noise on it, likewise.
        silent: flags of those who were to report, and did not.
        share: what was predicted before; NaN where nothing was, or it takes no part.
        low: lower end of the 90% interval of the true share, likewise.
        high: upper end.
    """

    seen: Floats
    noise: Floats
    silent: NDArray[np.bool_]
    share: Floats
    low: Floats
    high: Floats


def history_of(
    deployment: Deployment, reports: Reports, past: Sequence[tuple[int, Law]], unit: float
) -> History:
    """The last `WEEKS` periods; a share of the reports is `unit` of what is shown."""
    cells = reports.cells[-WEEKS:]
    first = len(reports.cells) - len(cells)
    days = [deployment.period_of(first + it) for it in range(len(cells))]
    part = np.array([[it.takes_part(day) for it in deployment.entities.values()] for day in days])
    share, width = np.full((2, *cells.shape), np.nan)
    for number, law in past:
        if number >= first:
            share[number - first] = unit * law.share
            width[number - first] = unit * NORMAL_90 * law.deviation
    share[~part] = np.nan
    return History(
        seen=unit * cells["share"],
        noise=unit * cells["noise"],
        silent=part & ~reports.there[first:],
        share=share,
        low=share - width,
        high=share + width,
    )


def scores_of(
    reports: Reports, past: Sequence[tuple[int, Law]], unit: float, expected: float | None
) -> Scores | None:
    """The scores of the predictions; None if no report can be compared with any."""
    there, noise, seen = reports.there, reports.cells["noise"], reports.cells["share"]
    joined = np.logical_or.accumulate(there, axis=0)
    errors, widths = [], []
    for number, law in past:
        if number:
            at = there[number] & joined[number - 1]
            width = np.hypot(law.deviation[at], noise[number, at])
            errors.append((seen[number, at] - law.share[at]) / width)
            widths.append(width)
    error = np.concatenate(errors) if errors else np.empty(0)
    if not error.size:
        return None
    tenths = np.histogram(ndtr(error), bins=_BINS, range=(0, 1))[0] / error.size
    return Scores(
        reports=error.size,
        inside=float(np.mean(np.abs(error) <= NORMAL_90)),
        wis=unit * float(np.mean(weighted_interval_score(error, np.concatenate(widths)))),
        pit=tuple(tenths.tolist()),
        expected=expected,
    )


def weighted_interval_score(error: Floats, deviation: Floats) -> Floats:
    """The weighted interval score of normal laws, with the intervals of `ALPHAS`.

    Args:
        error: (m,) of their means, in deviations.
        deviation: (m,) standard deviations.
    """
    total = np.abs(error) / 2
    for alpha in ALPHAS:
        half = ndtri(1 - alpha / 2)
        total += alpha * half + np.maximum(np.abs(error) - half, 0.0)
    return np.asarray(deviation * total / (len(ALPHAS) + 0.5))


def expected_share(choices: Sequence[tuple[Law, NDArray[np.bool_]]], names: int) -> float | None:
    """Expected gain of choosing the largest predictions, as a share of the possible gain.

    The gain of a period is the sum of the shares of those named, above that of random ones. The
    largest true shares are drawn from the law, with seed 0. The drawn mean errs by less than 0.01.

    Args:
        choices: the law of each period, and flags of the entities that may be chosen.
        names: how many are named.
    """
    rng, gained, lost = np.random.default_rng(0), 0.0, 0.0
    for law, among in choices:
        mean, apart = law.share[among], law.apart[among]
        if names < len(mean):
            count = max(_DRAWS[0], min(_DRAWS[1], _DRAWS[2] // len(mean)))
            draws = rng.standard_normal((count, len(mean)))
            shares = mean + apart * draws
            chosen = np.argsort(-mean, kind="stable")[:names]
            best = np.partition(shares, -names, axis=1)[:, -names:].sum(axis=1)
            gained += mean[chosen].sum() - names * mean.mean()
            lost += float((best - shares[:, chosen].sum(axis=1)).mean())
    return gained / (gained + lost) if gained + lost > 0 else None

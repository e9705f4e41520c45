"""Confidence intervals for means (Student) and probabilities (Clopper-Pearson).

Intervals shown together, in a table or a figure, hold together: the error is divided by their
number (Bonferroni). They cover the randomness of the runs on the given data, not other data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from dpol.core.arguments import check_number, check_whole
from dpol.core.randomness import Floats

if TYPE_CHECKING:
    import pandas as pd

NORMAL_95 = 1.96
"""Half-width of a 95% normal interval, in standard deviations."""


def student_factor(confidence: float, comparisons: int, replicates: int) -> float:
    """Return the half-width of a Student interval in standard errors, with Bonferroni's correction.

    It is infinite for one replicate, whose error is unknown.

    Args:
        confidence: confidence of all intervals together.
        comparisons: number of intervals that hold together; 0 counts as 1.
        replicates: number of replicates behind the mean.

    Raises:
        ValueError: no replicate, or a confidence outside (0, 1).

    >>> [round(student_factor(0.95, 1, replicates), 3) for replicates in (5, 20, 100)]
    [2.776, 2.093, 1.984]
    """
    check_whole("replicates", replicates)
    check_number("confidence", confidence, "(0, 1)")
    if replicates == 1:
        return math.inf
    tail = (1 - confidence) / (2 * max(comparisons, 1))
    return float(-scipy.special.stdtrit(replicates - 1, tail))


def half_width(values: Floats, confidence: float, comparisons: int = 1) -> Floats:
    """Return half-widths of Student intervals for means over axis 0, the replicates.

    They are infinite for one replicate, and exactly 0 where two or more replicates are all equal:
    such a number is taken to be deterministic.

    Args:
        values: (R, ...) values of the replicates.
        confidence: confidence of all intervals together.
        comparisons: number of intervals that hold together.

    Raises:
        ValueError: as `student_factor`.

    >>> half_width(np.array([[1.0, 7.0], [3.0, 7.0]]), 0.5).round(6).tolist()
    [1.0, 0.0]
    """
    return student_factor(confidence, comparisons, len(values)) * standard_error(values)


def half_width_of(
    squares: Floats, replicates: int, confidence: float, comparisons: int = 1
) -> Floats:
    """Return `half_width` from sums of squared deviations from the mean, of any shape.

    Args:
        squares: sums of the replicates' squared deviations.
        replicates: number of replicates.
        confidence: confidence of all intervals together.
        comparisons: number of intervals that hold together.

    Raises:
        ValueError: as `student_factor`.

    >>> half_width_of(np.array([2.0, 0.0]), 2, 0.5).round(6).tolist()
    [1.0, 0.0]
    """
    factor = student_factor(confidence, comparisons, replicates)
    if replicates == 1:
        return np.full(squares.shape, math.inf)
    return factor * (np.sqrt(squares / (replicates - 1)) / math.sqrt(replicates))


def standard_error(values: Floats) -> Floats:
    """Return the standard errors of the means of `values` (R, ...) over axis 0, the replicates.

    They are exactly 0 where two or more replicates are all equal, and infinite for one replicate.

    >>> standard_error(np.array([[1.0, 7.0], [3.0, 7.0]])).tolist()
    [1.0, 0.0]
    """
    if len(values) == 1:
        return np.full(values.shape[1:], math.inf)
    error = values.std(axis=0, ddof=1) / math.sqrt(len(values))
    # Rounding may give equal numbers a deviation above 0.
    return np.where((values == values[0]).all(axis=0), 0.0, error)


def add_intervals(
    frame: pd.DataFrame, errors: Mapping[str, str], confidence: float
) -> pd.DataFrame:
    """Add to a table the half-widths of all its means, which hold together.

    The result also gets the columns `confidence` and `ci_comparisons`.

    Args:
        frame: one row per setting, with the column `replicates`.
        errors: the name of the column to add for each column of standard errors.
        confidence: confidence of all intervals together.
    """
    comparisons = len(errors) * len(frame)
    factors = [student_factor(confidence, comparisons, int(n)) for n in frame["replicates"]]
    # With one replicate, both are infinite.
    added = {column: factors * frame[error] for error, column in errors.items()}
    return frame.assign(**added, confidence=confidence, ci_comparisons=comparisons)


def joined_row(parts: Sequence[Mapping[str, Any]], means: Mapping[str, str]) -> dict[str, Any]:
    """Return a row of a result table from the same row of several groups of replicates.

    An array has a number for each replicate, and the row has its mean. Where other numbers differ,
    as guarantees on random classes may, the row has the largest.

    Args:
        parts: the columns of each group.
        means: arrays to keep whole, each with the column of its mean. The first of them has the
            column `standard_error`.

    >>> part = {"T": 9, "runs": np.array([1.0]), "left": np.array([4.0])}
    >>> joined_row([part, {**part, "T": 10, "runs": np.array([3.0])}], {"runs": "mean"})
    {'T': 10, 'replicates': 2, 'runs': [1.0, 3.0], 'mean': 2.0, 'standard_error': 1.0, 'left': 4.0}
    """
    row = dict[str, Any]()
    for name in parts[0]:
        values = [part[name] for part in parts]
        if not isinstance(values[0], np.ndarray):
            row[name] = max(values) if isinstance(values[0], float | int) else values[0]
            continue
        runs = np.concatenate(values)
        row["replicates"] = len(runs)
        if name not in means:
            row[name] = float(runs.mean())
            continue
        row |= {name: runs.tolist(), means[name]: float(runs.mean())}
        if name == next(iter(means)):
            row["standard_error"] = float(standard_error(runs))
    return row


def mean_interval(sample: Floats, confidence: float) -> tuple[float, float]:
    """Return Student's interval for the mean of a sample (R,)."""
    mean, half = float(sample.mean()), float(half_width(sample, confidence))
    return mean - half, mean + half


def clopper_pearson_upper(successes: ArrayLike, trials: int, error: float) -> Floats:
    """Return the exact upper confidence bound on a probability (Clopper and Pearson).

    Args:
        successes: number of successes, of any shape, as the result is.
        trials: number of trials.
        error: probability that the bound is too low.

    >>> round(float(clopper_pearson_upper(0, 10, 0.05)), 4) == round(1 - 0.05**0.1, 4)
    True
    """
    k = np.asarray(successes, dtype=float)
    inner = scipy.special.betaincinv(
        np.minimum(k, trials - 1) + 1, np.maximum(trials - k, 1), 1 - error
    )
    return np.where(k >= trials, 1.0, inner)


def share_interval(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """Return the Clopper-Pearson interval for a probability."""
    error = (1 - confidence) / 2
    below = 1 - float(clopper_pearson_upper(trials - successes, trials, error))
    return below, float(clopper_pearson_upper(successes, trials, error))

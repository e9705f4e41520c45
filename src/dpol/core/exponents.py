"""Exponents of growth: slopes of log means against log sizes, with their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpol.core.intervals import student_factor


@dataclass(frozen=True, kw_only=True)
class Exponent:
    """A fitted exponent: means grow like size ** `slope`.

    Args:
        slope: the least-squares slope of log mean against log size.
        half_width: half-width of its interval, which covers the randomness of the runs, but not the
            deviation of the means from a power of the size.
        curvature: largest distance of a log mean from the line, which measures that deviation.
    """

    slope: float
    half_width: float
    curvature: float

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end of the interval."""
        return self.slope - self.half_width, self.slope + self.half_width


def fit_exponent(
    sizes: ArrayLike,
    means: ArrayLike,
    standard_errors: ArrayLike,
    *,
    replicates: int,
    confidence: float,
    comparisons: int = 1,
) -> Exponent:
    """Fit the exponent with which independent means grow with a size.

    To first order, the error of a log mean is the relative error of the mean (delta method).

    Args:
        sizes: (k,) positive sizes, at least two of them distinct.
        means: (k,) positive means, each from independent runs.
        standard_errors: (k,) standard errors of the means.
        replicates: number of runs behind each mean.
        confidence: confidence of all intervals together.
        comparisons: number of intervals that hold together (Bonferroni).

    Raises:
        ValueError: fewer than two sizes, or a size or mean that is not positive.

    >>> fit = fit_exponent([1, 10, 100], [2, 20, 200], [0, 0, 0], replicates=9, confidence=0.95)
    >>> round(fit.slope, 9), fit.half_width, round(fit.curvature, 9)
    (1.0, 0.0, 0.0)
    """
    size, mean = np.asarray(sizes, dtype=float), np.asarray(means, dtype=float)
    if len(set(size.tolist())) < 2 or not ((size > 0).all() and (mean > 0).all()):
        raise ValueError("an exponent needs two or more sizes, and positive sizes and means")
    x, y = np.log(size), np.log(mean)
    centred = x - x.mean()
    weights = centred / (centred**2).sum()
    slope = float(weights @ y)
    relative = np.asarray(standard_errors, dtype=float) / mean
    half = student_factor(confidence, comparisons, replicates) * math.hypot(*(weights * relative))
    off = float(np.abs(y - y.mean() - slope * centred).max())
    return Exponent(slope=slope, half_width=half, curvature=off)

"""Exponents of growth: slopes of log means on log sizes, with their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpol.core.intervals import student_factor


@dataclass(frozen=True, kw_only=True)
class Exponent:
    """A fitted exponent: mean proportional to size ** `slope`.

    Args:
        slope: the least-squares slope of log mean on log size.
        half_width: of its interval, which covers the chance of the runs. It does not cover how far
            the means are from a power of the size; `curvature` says that.
        curvature: largest distance of a log mean from the line.
    """

    slope: float
    half_width: float
    curvature: float

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end."""
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
    """The exponent with which independent means grow with a size.

    The error of a log mean is, to first order, the relative error of the mean (delta method).

    Args:
        sizes: (k,) at least two different positive sizes.
        means: (k,) positive means, each from independent runs.
        standard_errors: (k,) of the means.
        replicates: runs behind each mean.
        confidence: of all intervals together.
        comparisons: the number of intervals that hold together (Bonferroni).

    Raises:
        ValueError: fewer than two sizes, or a size or mean that is not positive.

    >>> fit = fit_exponent([1, 10, 100], [2, 20, 200], [0, 0, 0], replicates=9, confidence=0.95)
    >>> round(fit.slope, 9), fit.half_width, round(fit.curvature, 9)
    (1.0, 0.0, 0.0)
    """
    size, mean = np.asarray(sizes, dtype=float), np.asarray(means, dtype=float)
    if len(set(size.tolist())) < 2 or not ((size > 0).all() and (mean > 0).all()):
        raise ValueError("an exponent needs two sizes or more, and positive sizes and means")
    x, y = np.log(size), np.log(mean)
    centred = x - x.mean()
    weights = centred / (centred**2).sum()
    slope = float(weights @ y)
    relative = np.asarray(standard_errors, dtype=float) / mean
    half = student_factor(confidence, comparisons, replicates) * math.hypot(*(weights * relative))
    off = float(np.abs(y - y.mean() - slope * centred).max())
    return Exponent(slope=slope, half_width=half, curvature=off)

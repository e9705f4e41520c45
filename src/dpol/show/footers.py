"""Notes below a table: the meaning of its numbers, and the guarantees."""

from __future__ import annotations

import math

from dpol.core.rounding import fixed


def amount(mean: float, half_width: float) -> str:
    """Write a mean and the half-width of its interval, unless the half-width is NaN.

    >>> amount(41.25, 0.126), amount(-0.001, float("nan"))
    ('41.25 ± 0.13', '0.00')
    """
    return fixed(mean) + ("" if math.isnan(half_width) else plus_minus(half_width))


def plus_minus(half_width: float, digits: int = 2) -> str:
    """Write a half-width as it stands behind its number.

    >>> [plus_minus(half) for half in (0.125, 0.001, 0.0, float("inf"))]
    [' ± 0.12', ' ± <0.01', ' exact', ' ± ∞']
    """
    if half_width in (0.0, float("inf")):
        return " ± ∞" if half_width else " exact"
    text = f"{half_width:,.{digits}f}"
    return f" ± {text}" if float(text.replace(",", "")) > 0 else f" ± <{10.0**-digits:.{digits}f}"


def describe_data(simulated: bool) -> str:
    """A sentence that says if the data are simulated."""
    return "Data: simulated, not measured." if simulated else "Data: real."


COVERS = (
    "The intervals cover the noise (the randomness of the runs) on this one data set. They do not"
    " cover other data, such as other states or years."
)
"""Limits of every interval of a run."""


def describe_interval(
    confidence: float, comparisons: int, intervals: str = "cells", covers: str = COVERS
) -> str:
    """Define the half-widths.

    Args:
        confidence: joint confidence of all intervals.
        comparisons: number of intervals.
        intervals: what each interval is for, in the plural.
        covers: what the intervals cover.
    """
    return (
        f"±: half-width of the {100 * confidence:g}% confidence interval (Student's t),"
        f" Bonferroni-corrected over {comparisons:,} {intervals}. exact: all runs give the"
        f" same number. {covers}"
    )

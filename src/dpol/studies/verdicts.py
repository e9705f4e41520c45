"""Verdicts on a difference, from its interval, qualified where unmeasured numbers may decide."""

from __future__ import annotations

import math
from collections.abc import Iterable

ABOVE, EQUAL, BELOW, UNDECIDED = "above", "equal", "below", "undecided"
"""Verdicts on a difference."""
OPPOSITE = {ABOVE: BELOW, BELOW: ABOVE, EQUAL: EQUAL, UNDECIDED: UNDECIDED}
"""The verdict on the difference the other way round."""
AHEAD, BEHIND = "ahead at this reading", "behind at this reading"
"""Verdicts on a difference that numbers which nobody measured may decide."""


def verdict_on(difference: float, half: float) -> str:
    """Return `above`, `equal` or `below` 0 if the whole interval is, otherwise `undecided`.

    >>> verdict_on(1.0, 0.5), verdict_on(-1.0, 0.5), verdict_on(1.0, 1.5), verdict_on(0.0, 0.0)
    ('above', 'below', 'undecided', 'equal')
    """
    return verdict_between(difference - half, difference + half)


def verdict_between(lower: float, upper: float) -> str:
    """Return the verdict on a difference whose interval has these ends.

    >>> verdict_between(0.0, 0.0), verdict_between(-math.inf, math.inf)
    ('equal', 'undecided')
    """
    if lower > 0:
        return ABOVE
    if upper < 0:
        return BELOW
    return EQUAL if lower == upper == 0 else UNDECIDED


def at_this_reading(verdict: str) -> str:
    """Qualify a verdict that unmeasured numbers may decide.

    >>> at_this_reading("above"), at_this_reading("undecided")
    ('ahead at this reading', 'undecided')
    """
    return {ABOVE: AHEAD, BELOW: BEHIND}.get(verdict, verdict)


def bounded(
    verdict: str,
    readings: Iterable[str] = (),
    wide: tuple[float, float] | None = None,
    units: str = "weeks",
) -> str:
    """Return a verdict that is no stronger than anything that bounds it.

    Every text, table and page says a verdict on two systems through this function.

    Args:
        verdict: the verdict from the interval for the noise, on the data as they are read.
        readings: verdicts at other readings of unmeasured numbers, or with zeros that hide counts;
            an empty text where the two systems were not compared.
        wide: the difference, and the half-width of its interval over weeks or streams.
        units: which of the two; if the interval contains 0, others may turn the verdict.

    >>> bounded("above", ["above", "below"]), bounded("above", ["above"], (1.0, 2.0))
    ('ahead at this reading', 'above in these weeks')
    >>> bounded("undecided", ["above"], (1.0, 2.0)), bounded("below", wide=(-2.0, 1.0))
    ('undecided', 'below')
    """
    said = verdict if all(it == verdict for it in readings) else at_this_reading(verdict)
    may_turn = wide is not None and abs(wide[0]) <= wide[1]
    decided = said in (ABOVE, BELOW, AHEAD, BEHIND)
    return f"{said} in these {units}" if may_turn and decided else said


def verdicts_on(
    differences: Iterable[float], halves: Iterable[float], depends: Iterable[bool]
) -> list[str]:
    """Return a verdict on each difference; empty where there is none (not a number).

    Args:
        differences: the differences.
        halves: half-widths of their intervals.
        depends: whether numbers that nobody measured may decide them.

    >>> verdicts_on([1.0, 1.0, math.nan], [0.5, 0.5, 0.5], [False, True, False])
    ['above', 'ahead at this reading', '']
    """
    verdicts = []
    for difference, half, reads in zip(differences, halves, depends, strict=True):
        verdict = "" if math.isnan(difference) else verdict_on(difference, half)
        verdicts.append(at_this_reading(verdict) if reads else verdict)
    return verdicts

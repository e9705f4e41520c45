"""Verdicts on a difference, from its interval."""

from __future__ import annotations

ABOVE, EQUAL, BELOW, UNDECIDED = "above", "equal", "below", "undecided"
"""Verdicts on a difference."""


def verdict_on(difference: float, half: float) -> str:
    """Return `above`, `equal` or `below` 0 if the whole interval is, otherwise `undecided`.

    >>> verdict_on(1.0, 0.5), verdict_on(-1.0, 0.5), verdict_on(1.0, 1.5), verdict_on(0.0, 0.0)
    ('above', 'below', 'undecided', 'equal')
    """
    return verdict_between(difference - half, difference + half)


def verdict_between(lower: float, upper: float) -> str:
    """Return the verdict on a difference whose interval has these ends.

    >>> verdict_between(0.0, 0.0), verdict_between(-1.0, 1.0)
    ('equal', 'undecided')
    """
    if lower > 0:
        return ABOVE
    if upper < 0:
        return BELOW
    return EQUAL if lower == upper == 0 else UNDECIDED

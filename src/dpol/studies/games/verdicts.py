"""Verdicts on differences whose intervals hold jointly."""

from __future__ import annotations

from collections.abc import Collection

ABOVE, EQUAL, BELOW, UNDECIDED = "above", "equal", "below", "undecided"
REACHED, MISSED = "reached", "not reached"


def verdict_on(difference: float, half: float) -> str:
    """Return `above`, `equal` or `below` 0 if the whole interval is, otherwise `undecided`.

    >>> verdict_on(1.0, 0.5), verdict_on(-1.0, 0.5), verdict_on(1.0, 1.5), verdict_on(0.0, 0.0)
    ('above', 'below', 'undecided', 'equal')
    """
    if difference - half > 0:
        return ABOVE
    if difference + half < 0:
        return BELOW
    return EQUAL if difference == half == 0 else UNDECIDED


def verdict_of_aim(verdicts: Collection[str]) -> str:
    """Return the verdict on an aim: ours must be at or above everything it names.

    >>> verdict_of_aim([ABOVE, EQUAL]), verdict_of_aim([ABOVE, BELOW])
    ('reached', 'not reached')
    """
    if BELOW in verdicts:
        return MISSED
    return REACHED if set(verdicts) <= {ABOVE, EQUAL} else UNDECIDED

"""Divide a coordinator's units of help by the predictions that the page shows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpol.core.intervals import NORMAL_90
from dpol.core.randomness import Floats
from dpol_weekly.coordinator.decision import Division, Outlook
from dpol_weekly.coordinator.settings import Coordination
from dpol_weekly.divide import expected_unmet, short_chance, whole_units


def divide(
    outlooks: Sequence[Outlook], coordination: Coordination, taking_part: Collection[str]
) -> tuple[tuple[Outlook, ...], Division | None]:
    """Return the outlooks with their units of help, and the sums of the division.

    An entity can get help if it takes part, has reported and has a prediction, whether it may be
    named or not. The people who come to it are normal, with the mean and the 90% interval of its
    outlook. Source: `dpol_weekly.divide`.

    Args:
        outlooks: of all entities, without units.
        coordination: the number of units, the guaranteed share and the own staff. If the number is
            None, nothing is divided and the outlooks stay as they are.
        taking_part: identifiers of the entities that take part in the period.
    """
    if coordination.units is None:
        return tuple(outlooks), None
    laws = {
        place: (one.capacity, one.share, one.high)
        for place, one in enumerate(outlooks)
        if one.entity in taking_part and None not in (one.capacity, one.share, one.high)
    }
    beds, share, high = np.array([*laws.values()], dtype=float).T
    mean, deviation = beds * share, beds * (high - share) / NORMAL_90
    own = coordination.own_staff * beds
    units, unguaranteed = (
        _within_beds(mean, deviation, coordination.units, own, guaranteed, beds)
        for guaranteed in (coordination.guaranteed, 0.0)
    )
    need, unmet, least = (
        float(expected_unmet(mean, deviation, own + given).sum())
        for given in (np.zeros_like(units), units, unguaranteed)
    )
    chances = short_chance(mean, deviation, own + units)
    helped = [replace(one, units=0, units_without_guarantee=0) for one in outlooks]
    for row, place in enumerate(laws):
        helped[place] = replace(
            outlooks[place],
            units=int(units[row]),
            short_chance=float(chances[row]),
            units_without_guarantee=int(unguaranteed[row]),
        )
    return tuple(helped), Division(
        need=need,
        unmet=unmet,
        unmet_without_guarantee=least,
        left=coordination.units - int(units.sum()),
    )


def _within_beds(
    mean: Floats, deviation: Floats, units: int, own: Floats, guaranteed: float, beds: Floats
) -> NDArray[np.int64]:
    """Return whole units that stop at the beds of each entity; what is left helps nobody.

    Entities that would get more than their beds get their beds, and the rest is divided anew.
    """
    most = np.floor(beds).astype(np.int64)
    given, open_to = np.zeros_like(most), np.ones(len(most), dtype=bool)
    while open_to.any():
        at = open_to.nonzero()[0]
        rest = min(units - int(given.sum()), int(most[at].sum()))
        if rest == most[at].sum():
            given[at] = most[at]
            break
        shares = whole_units(mean[at], deviation[at], rest, own=own[at], guaranteed=guaranteed)
        above = at[shares > most[at]]
        if not len(above):
            given[at] = shares
            break
        given[above] = most[above]
        open_to[above] = False
    return given

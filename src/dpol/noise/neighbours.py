"""The neighbours that a gain stream stands for: the changes of one person that noise must hide."""

from __future__ import annotations

from dpol.data.stream import MAX_CARRY, SELECTION, GainStream
from dpol.privacy.guarantee import (
    GIVEN_CHANGE,
    ONE_PERSON,
    ONE_ROUND,
    STAY,
    STAY_UNIT,
    UNIT,
    Neighbours,
)

_CHOSEN_BY = {
    "counts": "the list of entities, computed from the counts of all periods, later ones included"
    " (cleaning.min_total_cases)",
}
"""Data taken as public, by the origin of the list of entities; nothing for other origins."""


def neighbours_of(stream: GainStream) -> Neighbours:
    """The neighbours that everything calibrated to the stream's sensitivity protects."""
    if stream.capacity is None:
        return Neighbours(adjacency=GIVEN_CHANGE, unit=ONE_ROUND, stay=None)
    long = stream.stay > 1
    return Neighbours(
        adjacency=STAY.format(stream.stay) if long else ONE_PERSON,
        unit=STAY_UNIT.format(stream.stay) if long else UNIT,
        taken_as_public=_CHOSEN_BY.get(str(stream.provenance.get(SELECTION, "")), ""),
        stay=stream.stay,
        max_carry=int(stream.provenance.get(MAX_CARRY, 0)),
    )

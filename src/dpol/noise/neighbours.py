"""Neighbours of a gain stream: the changes of one person that noise must hide."""

from __future__ import annotations

from dpol.data.stream import (
    COUNTED,
    MAX_CARRY,
    SELECTION,
    SUPPRESSED,
    GainStream,
    largest_change_of_average,
)
from dpol.privacy.guarantee import (
    GIVEN_CHANGE,
    ONE_PERSON,
    ONE_ROUND,
    STAY,
    STAY_UNIT,
    TIMES,
    UNIT,
    Neighbours,
    in_words,
)

_CHOSEN_BY_COUNTS = (
    "the list of entities, computed from the counts of all periods, later ones included"
    " (cleaning.min_total_cases)"
)

_SUPPRESSED = (
    "which {numbers} are suppressed (read as {read_as:g}): the guarantee is for sites that add"
    " noise to their exact counts; on these cleaned {cleaned} {moved}{more}"
)


def neighbours_of(stream: GainStream) -> Neighbours:
    """Return the neighbours that all noise scaled to the stream's sensitivity protects."""
    if stream.capacity is None:
        return Neighbours(adjacency=GIVEN_CHANGE, unit=ONE_ROUND, stay=None)
    adjacency, unit = ONE_PERSON, UNIT
    if stream.stay > 1:
        adjacency, unit = STAY.format(stream.stay), STAY_UNIT.format(stream.stay)
    counted = str(stream.provenance.get(COUNTED, ""))
    public = [_CHOSEN_BY_COUNTS] if stream.provenance.get(SELECTION) == "counts" else []
    if suppressed := stream.provenance.get(SUPPRESSED):
        words = {"numbers": "counts", "cleaned": "counts", "more": ""}
        if days := suppressed.get("days"):
            usual = largest_change_of_average(1.0, days[1], read_as=suppressed["read_as"])
            more = f" ({days[0]:g} days reported at least; {usual:.3g} times over {days[1]:g})"
            words = {"numbers": "sums of days", "cleaned": "averages", "more": more}
        moved = TIMES.format(suppressed["times"])
        public.append(_SUPPRESSED.format(read_as=suppressed["read_as"], moved=moved, **words))
    return Neighbours(
        adjacency=in_words(adjacency, stream.count_sensitivity, counted),
        unit=in_words(unit, stream.count_sensitivity, counted),
        taken_as_public="; and ".join(public),
        stay=stream.stay,
        max_carry=int(stream.provenance.get(MAX_CARRY, 0)),
    )

"""Cleaning of a drawn table, cell by cell, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

from data.drawn import Drawn
from dpol.data.settings import Cleaning

SOURCES = {
    "summed": "sum",
    "suppressed": "suppressed",
    "hidden_sum": "suppressed",
    "uncovered": "suppressed",
}
"""Sources of counts that nobody published as they are, by the rule."""
IDLE = "a count above 0 beside a capacity of 0 or less in"


class Cell(NamedTuple):
    """A cell of the panel, and what its row says.

    Args:
        shown: count, its source, capacity, and its source.
        people: the count of the row; None if there is none.
        idle: whether the count is above 0 beside no capacity.
        touched: the rules that touched it.
    """

    shown: tuple[float, str, float | None, str]
    people: float | None
    idle: bool
    touched: list[str]


class Plain(NamedTuple):
    """The cells of those who play in periods with a count, and why the others do not play."""

    places: list[int]
    lines: dict[str, list[Cell]]
    dropped: dict[str, str]


def number(
    cell: str, alone: float | None, hidden_sum: float | None, *, sums: bool
) -> tuple[float | None, str]:
    """Return the number of a drawn cell, None if it is missing, and the rule that says so.

    A suppressed cell is read as `alone`; over known days its sum tells it, or `hidden_sum` does.
    """
    if cell == "_":
        return None, "absent"
    shown, total, days = f"{cell}:.:.".split(":")[:3]
    if shown == ".":
        return None, "missing"
    if shown != "*":
        return (float(shown), "") if float(shown) >= 0 else (None, "negative")
    if not sums:
        return alone, "suppressed"
    if days not in [*"1234567"]:
        return alone, "uncovered"
    if total in "*.":
        return hidden_sum and hidden_sum / int(days), "hidden_sum"
    return int(total) / int(days), "summed"


def clean_line(
    counts: str, beds: str, days: Sequence[int], rules: Cleaning, *, sums: Collection[str]
) -> list[Cell]:
    """Clean the line of one entity, period by period; `sums` are of counts, or of capacities."""
    rows = list(zip(days, counts.split(), beds.split(), strict=True))
    of_beds = "capacity" in sums
    rooms = [
        number("_" if count == "_" else bed, None, None, sums=of_beds) for _, count, bed in rows
    ]
    first = next((room for room, _ in rooms if room), None)
    cells, last, when, held = [], 0.0, -math.inf, None
    for (day, count, _), (room, of_room) in zip(rows, rooms, strict=True):
        alone, hidden_sum = rules.suppressed_value, rules.suppressed_sum
        people, how = number(count, alone, hidden_sum, sums="count" in sums)
        idle = bool(people) and (room == 0 or of_room == "negative")
        touched = [f"{how}_counts", f"{of_room}_capacities"] if count != "_" else ["absent_rows"]
        if people is None:
            recent = day - when < 7 * (rules.max_carry + 0.5)
            number_shown, source = (last, "carried") if recent else (0.0, "zero")
            touched.append(f"{source}_counts")
        elif idle and rules.capacity_zero == "absent":
            number_shown, source = 0.0, "absent"
        else:
            number_shown = last = people
            when, source = day, SOURCES.get(how, "reported")
            if rules.zeros_hide and people == 0 and source == "reported":
                source = "zero_or_hidden"
        held = room or held
        of_bed = "sum" if of_room == "summed" else "reported"
        if not room:
            of_bed = "carried" if held else "backfilled"
            touched.append(f"{of_bed}_capacities")
        touched += ["idle_counts"] * idle + ["zero_capacities"] * (room == 0)
        shown = number_shown, source, held or first, "zero" if idle else of_bed
        cells.append(Cell(shown, people, idle, touched))
    return cells


def reason(cells: Sequence[Cell], rules: Cleaning) -> str:
    """Return why an entity does not play; empty if it does."""
    cases = rules.case_factor * sum(cell.people or 0 for cell in cells)
    idle = sum(cell.idle for cell in cells)
    if cells[0].shown[2] is None:
        return "never reports a capacity above 0"
    if cases < rules.min_total_cases:
        return f"{cases:.10g} cases in all, fewer than {rules.min_total_cases:.10g}"
    if idle and rules.capacity_zero == "drop":
        return f"{IDLE} {idle} period{'s' * (idle > 1)}"
    return ""


def cleaned(drawn: Drawn, days: Sequence[int], rules: Cleaning, *, sums: Collection[str]) -> Plain:
    """Clean the lines of all entities; `days` are those on which the periods begin."""
    every = {name: clean_line(*line, days, rules, sums=sums) for name, line in drawn.items()}
    reasons = {name: reason(cells, rules) for name, cells in every.items()}
    kept = {name: cells for name, cells in every.items() if not reasons[name]}
    places = [
        t for t in range(len(days)) if any(cells[t].people is not None for cells in kept.values())
    ]
    lines = {name: [cells[t] for t in places] for name, cells in kept.items()}
    return Plain(places, lines, {name: why for name, why in reasons.items() if why})

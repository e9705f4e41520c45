"""The page of decisions: one self-contained file that a coordinator opens or sends.

All that it shows is in the decision. Entities are in the order of the number that decides.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dpol.core.files import write_text
from dpol.core.rounding import rounded_up
from dpol.core.words import counted
from dpol.show.pages import load_template
from dpol_weekly.budget import guess_in_full
from dpol_weekly.coordinator.decision import Decision, Division, Outlook
from dpol_weekly.coordinator.words import LISTED, listed

SHOWN = 50
"""Number of entities that the page shows; the CSV file of the decision has all."""
EARLIER = 26
"""Number of earlier decisions that are shown."""
SMALL = 50
"""A hospital with fewer beds is small."""


def likely(chance: float) -> str:
    """A chance in percent.

    >>> likely(0.774), likely(0.001), likely(0.9999)
    ('77%', '<1%', '>99%')
    """
    if chance < 0.005:
        return "<1%"
    return ">99%" if chance >= 0.995 else f"{100 * chance:.0f}%"


def day_of(period: str) -> str:
    """The first day of a period in words.

    >>> day_of("2024-03-31")
    '31 March 2024'
    """
    day = datetime.date.fromisoformat(period)
    return f"{day.day} {day:%B %Y}"


def ranking(decision: Decision) -> list[Outlook]:
    """The entities that have reported: those named, the others by rank, those not in the choice."""
    there = [outlook for outlook in decision.outlooks if outlook.reports]
    return sorted(there, key=lambda it: (not it.named, it.rank is None, it.rank or 0))


def scaled(one: Outlook, counts: bool) -> tuple[float, ...]:
    """What decides of one that has reported, and its 90% interval; nobody is below 0.

    These are shares, or people.
    """
    scale = (one.capacity or 0.0) if counts else 1.0
    return tuple(max(0.0, scale * (number or 0.0)) for number in (one.share, one.low, one.high))


def in_words(one: Outlook, counts: bool) -> str:
    """The number that decides of an entity."""
    number = scaled(one, counts)[0]
    return f"{number:.0f} people" if counts else f"{100 * number:.1f}%"


def people(one: Outlook) -> str:
    """The people predicted of an entity, and the 90% interval."""
    count, low, high = (f"{number:.0f}" for number in scaled(one, counts=True))
    return f"about {count} people ({low} to {high}) in {one.capacity:g} beds"


def of_those(decision: Decision) -> str:
    """The words for the hospitals among which a chance is meant, if not all are."""
    if decision.gain.min_capacity:
        return f" of those with at least {decision.gain.min_capacity:g} beds"
    return " of those that may be chosen" if decision.coordination.cannot_be_chosen else ""


def guarantee(outlooks: Sequence[Outlook], division: Division) -> str:
    """What the guarantee gives to hospitals with fewer than `SMALL` beds, and its price in people.

    If these are all hospitals or none, the limit is the median size.
    """
    there = [one for one in outlooks if one.short_chance is not None]
    beds = np.array([one.capacity for one in there])
    units, free = np.array([(one.units, one.units_without_guarantee) for one in there]).T
    if (units == free).all():
        return "The guarantee moves no unit."
    told = f"The guarantee moves {counted(np.abs(units - free).sum() // 2, 'unit')}"
    few = SMALL if 0 < (beds < SMALL).sum() < len(beds) else np.median(np.unique(beds))
    if (small := beds < few).any():
        given, other = units[small].sum(), free[small].sum()
        rather = "as without it" if given == other else f"not {other:,}"
        told += f": it gives {given:,}, {rather}, to hospitals with fewer than {few:g} beds"
    price = division.unmet - division.unmet_without_guarantee
    costs = "fewer than 0.1" if price < 0.05 else f"{price:,.1f}"
    return f"{told}. With it, {costs} more people are expected to go without help."


def silence(one: Outlook, unit: str) -> str:
    """The silence of an entity in words."""
    if not one.reports:
        return "never reported"
    return f"no report for {counted(one.silent, unit)}"


def decisions_page(
    decision: Decision, earlier: Sequence[Decision] = (), *, today: datetime.date
) -> str:
    """The page as HTML.

    Args:
        decision: the one that is shown first.
        earlier: the decisions before it, the newest first.
        today: the date that it shows.
    """
    titles = {outlook.entity: outlook.title for outlook in decision.outlooks}
    ranked, counts = ranking(decision), decision.gain.of == "count"
    named = [outlook for outlook in ranked if outlook.named]
    others = [outlook for outlook in ranked if not outlook.named and outlook.rank]
    *first, last = [outlook.title for outlook in named]
    ends = [scaled(outlook, counts)[2] for outlook in ranked[:SHOWN]]
    least = min(outlook.chance or 0.0 for outlook in named)
    start, before = map(datetime.date.fromisoformat, (decision.period, decision.last_period))
    unit, current = "week" if (start - before).days == 7 else "period", decision.period_on(today)
    silent = sorted(
        (outlook for outlook in decision.outlooks if outlook.silent), key=lambda it: -it.silent
    )
    spent = decision.spent
    return load_template("decisions.html.j2", "dpol_weekly.coordinator").render(
        decision=decision,
        titles=titles,
        named=named,
        to=f"{', '.join(first)} and {last}" if first else last,
        others=others,
        likelier=[other for other in others if (other.chance or 0.0) > least],
        of_those=of_those(decision),
        ranked=ranked,
        silent=[outlook for outlook in silent if outlook.silent > 1 or not outlook.reports],
        missed=[outlook.title for outlook in silent if outlook.silent == 1 and outlook.reports],
        guarantee=decision.division and guarantee(decision.outlooks, decision.division),
        today=today.isoformat(),
        current=current.isoformat(),
        earlier=earlier[:EARLIER],
        shown=SHOWN,
        most_listed=LISTED,
        unit=unit,
        counts=counts,
        top=max(ends, default=0.0) or 1.0,
        mu=rounded_up(spent.mu, 3),
        guess=math.ceil(100 * guess_in_full(spent.mu, spent.count_sensitivity)),
        mu_of_stay=rounded_up(spent.mu_of_stay, 3),
        guess_of_stay=math.ceil(100 * guess_in_full(spent.mu_of_stay, spent.count_sensitivity)),
        counted=counted,
        day_of=day_of,
        in_words=in_words,
        likely=likely,
        listed=listed,
        people=people,
        scaled=scaled,
        silence=silence,
    )


def write_page(folder: Path, decision: Decision, *earlier: Decision, today: datetime.date) -> Path:
    """Write `index.html` into the folder of a coordinator; returns its path."""
    path = folder / "index.html"
    write_text(path, decisions_page(decision, earlier, today=today))
    return path

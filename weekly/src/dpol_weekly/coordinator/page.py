"""The page of decisions: one self-contained file that a coordinator opens or sends.

All that it shows is in the decision. Entities are in the order of the number that decides.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from dpol.core.errors import DataError
from dpol.core.files import write_text
from dpol.core.rounding import AtMost
from dpol.core.words import counted
from dpol.show.pages import load_template
from dpol_weekly.budget import guess_in_full
from dpol_weekly.coordinator.decision import Decision, Outlook, read_decision
from dpol_weekly.coordinator.words import LISTED, listed

SHOWN = 50
"""Number of entities that the page shows; the CSV file of the decision has all."""
EARLIER = 26
"""Number of earlier decisions that are shown."""


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
    """The words for the hospitals that are compared, if not all are."""
    if decision.gain.min_capacity:
        return f" of those with at least {decision.gain.min_capacity:g} beds"
    return " of those that may be chosen" if decision.coordination.cannot_be_chosen else ""


def lately(one: Outlook) -> str:
    """The noisy reports of the last periods in percent of the beds, the newest last."""
    return ", ".join("–" if it is None else f"{100 * it:.0f}" for it in one.recent)


def silence(one: Outlook, unit: str) -> str:
    """The silence of an entity in words."""
    if not one.reports:
        return "never reported"
    return f"no report for {counted(one.silent, unit)}"


def decisions_page(
    decision: Decision,
    earlier: Sequence[Decision] = (),
    others: Mapping[str, Decision] | None = None,
    *,
    today: datetime.date,
) -> str:
    """The page as HTML.

    Args:
        decision: the one that is shown first.
        earlier: the decisions before it, the newest first.
        others: the last decisions under other agreements, by the paths of their pages.
        today: the date that it shows.
    """
    titles = {outlook.entity: outlook.title for outlook in decision.outlooks}
    ranked, counts = ranking(decision), decision.gain.of == "count"
    named = [outlook for outlook in ranked if outlook.named]
    following = [outlook for outlook in ranked if not outlook.named and outlook.rank]
    *first, last = [outlook.title for outlook in named]
    ends = [scaled(outlook, counts)[2] for outlook in ranked[:SHOWN]]
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
        following=following,
        others=others or {},
        of_those=of_those(decision),
        ranked=ranked,
        silent=[outlook for outlook in silent if outlook.silent > 1 or not outlook.reports],
        missed=[outlook.title for outlook in silent if outlook.silent == 1 and outlook.reports],
        today=today.isoformat(),
        current=current.isoformat(),
        earlier=earlier[:EARLIER],
        shown=SHOWN,
        most_listed=LISTED,
        unit=unit,
        counts=counts,
        top=max(ends, default=0.0) or 1.0,
        mu=AtMost(spent.mu),
        guess=AtMost(100 * guess_in_full(spent.mu, spent.count_sensitivity)),
        mu_of_stay=AtMost(spent.mu_of_stay),
        guess_of_stay=AtMost(100 * guess_in_full(spent.mu_of_stay, spent.count_sensitivity)),
        **{word.__name__: word for word in _WORDS},
    )


_WORDS = counted, day_of, in_words, lately, listed, people, scaled, silence
"""Functions that the template calls."""


def other_decisions(folder: Path, others: Sequence[str]) -> dict[str, Decision]:
    """Return the last decisions in other coordinators' folders, by the paths of their pages."""
    found = {}
    for other in others:
        for file in sorted((folder / other / "decisions").glob("*.json"))[-1:]:
            with suppress(DataError):
                found[f"{quote(other)}/index.html"] = read_decision(file)
    return found


def write_page(folder: Path, decision: Decision, *earlier: Decision, today: datetime.date) -> Path:
    """Write `index.html` into the folder of a coordinator; returns its path."""
    path = folder / "index.html"
    others = other_decisions(folder, decision.coordination.others)
    write_text(path, decisions_page(decision, earlier, others, today=today))
    return path

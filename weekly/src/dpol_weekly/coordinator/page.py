"""The page of decisions: one self-contained file that a coordinator opens or sends.

All that it shows is in the decision.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

from dpol.core.files import write_text
from dpol.core.rounding import AtMost
from dpol.core.words import counted
from dpol.show.pages import load_template
from dpol_weekly.budget import guess_in_full
from dpol_weekly.coordinator.decision import Decision, Outlook
from dpol_weekly.coordinator.words import LISTED, listed

SHOWN = 50
"""Number of entities that the page shows; the decision's file has all."""
EARLIER = 26
"""Number of earlier decisions that are shown."""


def day_of(period: str) -> str:
    """Return the first day of a period in words.

    >>> day_of("2024-03-31")
    '31 March 2024'
    """
    day = datetime.date.fromisoformat(period)
    return f"{day.day} {day:%B %Y}"


def ranking(decision: Decision) -> list[Outlook]:
    """Return those that have reported: those named, the others by rank, those not in the choice."""
    there = [outlook for outlook in decision.outlooks if outlook.reports]
    return sorted(there, key=lambda it: (not it.named, it.rank is None, it.rank or 0))


def last_report(one: Outlook) -> str:
    """Return the last report of an entity in words, and how far off it may be.

    Noise exceeds twice its standard deviation in one report of twenty.
    """
    if one.noisy_count is None or one.noise is None or one.capacity is None:
        return "never reported"
    share, apart = (100 * it / one.capacity for it in (one.noisy_count, 2 * one.noise))
    people = f"{one.noisy_count:.0f} ± {2 * one.noise:.0f} people in {one.capacity:g} beds"
    return f"{people}, {share:.0f}% ± {apart:.0f}"


def decisions_page(
    decision: Decision, earlier: Sequence[Decision] = (), *, today: datetime.date
) -> str:
    """Return the page as HTML.

    Args:
        decision: the one that is shown first.
        earlier: the decisions before it, the newest first.
        today: the date that it shows.
    """
    titles = {outlook.entity: outlook.title for outlook in decision.outlooks}
    *first, last = (titles[name] for name in decision.named)
    start, before = map(datetime.date.fromisoformat, (decision.period, decision.last_period))
    spent = decision.spent
    return load_template("decisions.html.j2", "dpol_weekly.coordinator").render(
        decision=decision,
        titles=titles,
        to=f"{', '.join(first)} and {last}" if first else last,
        ranked=ranking(decision),
        silent=sorted((it for it in decision.outlooks if it.silent), key=lambda it: -it.silent),
        today=today.isoformat(),
        current=decision.period_on(today).isoformat(),
        earlier=earlier[:EARLIER],
        shown=SHOWN,
        most_listed=LISTED,
        unit="week" if (start - before).days == 7 else "period",
        mu=AtMost(spent.mu),
        guess=AtMost(100 * guess_in_full(spent.mu, spent.count_sensitivity)),
        mu_of_stay=AtMost(spent.mu_of_stay),
        guess_of_stay=AtMost(100 * guess_in_full(spent.mu_of_stay, spent.count_sensitivity)),
        **{word.__name__: word for word in (counted, day_of, last_report, listed)},
    )


def write_page(folder: Path, decision: Decision, *earlier: Decision, today: datetime.date) -> None:
    """Write `index.html` into the folder of a coordinator."""
    write_text(folder / "index.html", decisions_page(decision, earlier, today=today))

"""The page of decisions: one self-contained file that a coordinator opens or sends."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpol.core.files import write_text
from dpol.core.randomness import Floats
from dpol.core.rounding import rounded_up
from dpol.core.words import counted
from dpol.privacy.account import best_guess
from dpol.show.pages import load_template
from dpol_weekly.coordinator.cost import noise_by_question
from dpol_weekly.coordinator.decision import Decision, Outlook
from dpol_weekly.coordinator.past import WEEKS, History

SHOWN = 50
"""Number of entities that the page shows; the CSV file of the decision has all."""
EARLIER = 26
"""Number of earlier decisions that are shown."""
LISTED = 20
"""Number of entities, or releases, of one kind that a sentence names."""
_STEP, _HEIGHT = 18.0, 56.0  # of a picture: between periods, and in all, in pixels
_LEFT = 8.0


@dataclass(frozen=True, kw_only=True)
class Picture:
    """The last periods of an entity, as shapes in pixels.

    Args:
        dots: x, y, and the ends of y ± one standard deviation of noise, of each report.
        crosses: x of each period in which it was to report, and did not.
        line: path through the predictions.
        band: path around their 90% intervals.
        ahead: x, y, and the ends of the interval, of the prediction for the period decided.
    """

    dots: Sequence[tuple[float, ...]]
    crosses: list[float]
    line: str
    band: str
    ahead: tuple[float, ...] | None


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
    """The named entities, then others by their chance; where nothing is ranked, as they report."""
    chosen = [it for it in decision.outlooks if it.rank is not None or it.named]
    others = [it for it in decision.outlooks if it.rank is None and not it.named and it.reports]
    chosen.sort(
        key=lambda it: (
            not it.named,
            0.0 if it.named or it.chance is None else -it.chance,
            it.rank is None,
            it.rank or 0,
        )
    )
    return [*chosen, *others]


def people(one: Outlook) -> tuple[str, str] | None:
    """The people predicted of an entity, and the 90% interval; nobody is below 0."""
    if one.share is None or one.low is None or one.high is None or one.capacity is None:
        return None
    low, mean, high = (
        f"{max(0.0, it * one.capacity):.0f}" for it in (one.low, one.share, one.high)
    )
    return mean, f"{low} to {high} of {one.capacity:g} beds"


def of_those(decision: Decision) -> str:
    """The words for the hospitals among which a chance is meant, if not all are."""
    if decision.gain.min_capacity:
        return f" of those with at least {decision.gain.min_capacity:g} beds"
    return " of those that may be chosen" if decision.coordination.cannot_be_chosen else ""


def silence(one: Outlook, unit: str) -> str:
    """The silence of an entity in words."""
    if not one.reports:
        return "never reported"
    return f"no report for {counted(one.silent, unit)}"


def highest(decision: Decision, shown: Sequence[Outlook]) -> float:
    """The upper end of the scale of all pictures: the highest interval, and room for noise."""
    counts = decision.gain.of == "count"
    ends = [
        (one.high if one.high is not None else one.noisy_share or 0.0)
        * ((one.capacity or 0.0) if counts else 1.0)
        for one in shown
    ]
    return max([1.15 * end for end in ends], default=0.0) or 1.0


def picture(history: History, place: int, ahead: Sequence[float] | None, top: float) -> Picture:
    """The picture of an entity.

    Args:
        history: of all.
        place: of the entity.
        ahead: its prediction for the period decided, and the ends of its 90% interval.
        top: upper end of the scale, which begins at 0; what is beyond is drawn at its end.
    """

    def height(value: float) -> float:
        return round(_HEIGHT - 3 - (_HEIGHT - 6) * min(max(value / top, 0.0), 1.0), 1)

    weeks = len(history.seen)
    across = [_LEFT + _STEP * (WEEKS - weeks + it) for it in range(weeks)]
    seen, noise = history.seen[:, place], history.noise[:, place]
    shares, low, high = (it[:, place] for it in (history.share, history.low, history.high))
    dots = [
        (x, height(value), height(value - sd), height(value + sd))
        for x, value, sd in zip(across, seen, noise, strict=True)
        if not math.isnan(value)
    ]

    def points(values: Floats) -> list[str]:
        return [
            f"{x:g},{height(value):g}"
            for x, value in zip(across, values, strict=True)
            if not math.isnan(value)
        ]

    line, upper, lower = points(shares), points(high), points(low)
    after = _LEFT + _STEP * WEEKS
    return Picture(
        dots=dots,
        crosses=[x for x, silent in zip(across, history.silent[:, place], strict=True) if silent],
        line=f"M{' '.join(line)}" if line else "",
        band=f"M{' '.join([*upper, *reversed(lower)])}Z" if line else "",
        ahead=None if ahead is None else (after, *map(height, ahead)),
    )


def decisions_page(decision: Decision, history: History, earlier: Sequence[Decision]) -> str:
    """The page as HTML.

    Args:
        decision: the one that is shown first.
        history: the periods before it.
        earlier: the decisions before it, the newest first.
    """
    titles = {it.entity: it.title for it in decision.outlooks}
    place_of = {it.entity: place for place, it in enumerate(decision.outlooks)}
    named = [decision.outlooks[place_of[name]] for name in decision.named]
    to = [titles[name] for name in decision.named]
    spent, ranked, counts = decision.spent, ranking(decision), decision.gain.of == "count"
    shown = ranked[:SHOWN]
    start, last = map(datetime.date.fromisoformat, (decision.period, decision.last_period))
    unit = "week" if (start - last).days == 7 else "period"
    top, rows = highest(decision, shown), []
    for one in shown:
        scale = (one.capacity or 0.0) if counts else 1.0
        ahead = [it * scale for it in (one.share, one.low, one.high) if it is not None]
        drawn = picture(history, place_of[one.entity], ahead or None, top)
        rows.append((one, people(one), drawn))
    silent = sorted((it for it in decision.outlooks if it.silent), key=lambda it: -it.silent)
    told = {it.entity: it for it in decision.outlooks if it.noise is not None}
    noises = {name: it.noise or 0.0 for name, it in told.items()}
    beds = {name: it.capacity or 0.0 for name, it in told.items()}
    return load_template("decisions.html.j2", "dpol_weekly.coordinator").render(
        decision=decision,
        titles=titles,
        named=named,
        to=" and ".join(filter(None, (", ".join(to[:-1]), to[-1]))),
        best=people(named[0]),
        rivals=[it for it in ranked if it.chance is not None and not it.named],
        of_those=of_those(decision),
        rows=rows,
        silent=[it for it in silent if it.silent > 1 or not it.reports],
        missed=[it for it in silent if it.silent == 1 and it.reports],
        noises=noise_by_question(noises, beds),
        earlier=earlier[:EARLIER],
        shown=SHOWN,
        listed=LISTED,
        unit=unit,
        weeks=len(history.seen),
        width=_LEFT + _STEP * (WEEKS + 0.6),
        height=_HEIGHT,
        scale=f"{top:.0f} people" if counts else f"{100 * top:.0f}%",
        counts=counts,
        counted=counted,
        day_of=day_of,
        likely=likely,
        silence=silence,
        mu=rounded_up(spent.mu, 3),
        guess=math.ceil(100 * best_guess(spent.mu)),
        mu_of_stay=rounded_up(spent.mu_of_stay, 3),
        guess_of_stay=math.ceil(100 * best_guess(spent.mu_of_stay)),
        wis=""
        if decision.scores is None
        else f"{(1 if counts else 100) * decision.scores.wis:.2g}",
        tallest=0.0 if decision.scores is None else float(np.max(decision.scores.pit)),
    )


def write_page(
    folder: Path, decision: Decision, history: History, earlier: Sequence[Decision] = ()
) -> Path:
    """Write `index.html` into the folder of a coordinator; returns its path."""
    path = folder / "index.html"
    write_text(path, decisions_page(decision, history, earlier))
    return path

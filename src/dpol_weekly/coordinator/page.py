"""The page of decisions: one self-contained file that a coordinator opens or sends."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from dpol.core.files import write_text
from dpol.core.rounding import rounded_up
from dpol.core.words import counted
from dpol.privacy.account import best_guess
from dpol.show.pages import load_template
from dpol_weekly.coordinator.decision import Decision, Outlook

SHOWN = 50
"""Number of entities that the ranking shows; the CSV file of the decision has all."""
EARLIER = 26
"""Number of earlier decisions that are shown."""
LISTED = 20
"""Number of releases that were set aside, or are above the budget, that are named."""
_WIDTH = 160.0  # of a bar, in pixels


def percent(share: float | None) -> str:
    """A share in percent; empty for none.

    >>> percent(0.3149), percent(-0.02), percent(None)
    ('31.5%', '-2.0%', '')
    """
    return "" if share is None else f"{100 * share:.1f}%"


def amount(one: Outlook, share: float | None, *, counts: bool) -> str:
    """A share of an entity's last capacity, in percent; or the count that it is."""
    if counts and share is not None and one.capacity is not None:
        return f"{share * one.capacity:.1f}"
    return percent(share)


def ranking(decision: Decision) -> list[Outlook]:
    """The entities in the choice, best first; where nothing is ranked, as they report."""
    chosen = [it for it in decision.outlooks if it.rank is not None or it.named]
    others = [it for it in decision.outlooks if it.rank is None and not it.named and it.reports]
    chosen.sort(key=lambda it: (it.rank is None, it.rank or 0))
    return [*chosen, *others][:SHOWN]


def bars(shown: Sequence[Outlook], *, counts: bool = False) -> list[tuple[float, ...]]:
    """Left end, right end and centre of each interval, in pixels; empty without an interval.

    The highest end of all fills the width, and what is below 0 is cut off.
    """
    scale = [one.capacity or 0.0 if counts else 1.0 for one in shown]
    ends = [
        [end * unit for end in (one.low, one.high, one.share) if end is not None]
        for one, unit in zip(shown, scale, strict=True)
    ]
    highest = max([end[1] for end in ends if end], default=1.0)
    return [
        tuple(round(min(max(it / max(highest, 1e-9), 0.0), 1.0) * _WIDTH, 1) for it in of_one)
        for of_one in ends
    ]


def decisions_page(decision: Decision, earlier: Sequence[Decision]) -> str:
    """The page as HTML.

    Args:
        decision: the one that is shown first.
        earlier: those before it, the newest first.
    """
    outlook_of = {it.entity: it for it in decision.outlooks}
    titles = {name: it.title or name for name, it in outlook_of.items()}
    spent, shown, counts = decision.spent, ranking(decision), decision.gain.of == "count"
    return load_template("decisions.html.j2", "dpol_weekly.coordinator").render(
        decision=decision,
        titles=titles,
        named=[outlook_of[name] for name in decision.named],
        outlooks=list(zip(shown, bars(shown, counts=counts), strict=True)),
        predicted=any(it.share is not None for it in shown),
        amount=partial(amount, counts=counts),
        counts=counts,
        width=_WIDTH,
        shown=SHOWN,
        earlier=earlier[:EARLIER],
        listed=LISTED,
        counted=counted,
        mu=rounded_up(spent.mu, 3),
        guess=rounded_up(100 * best_guess(spent.mu), 3),
        mu_of_stay=rounded_up(spent.mu_of_stay, 3),
        guess_of_stay=rounded_up(100 * best_guess(spent.mu_of_stay), 3),
    )


def write_page(folder: Path, decision: Decision, earlier: Sequence[Decision] = ()) -> Path:
    """Write `index.html` into the folder of a coordinator; returns its path."""
    path = folder / "index.html"
    write_text(path, decisions_page(decision, earlier))
    return path

"""The page of decisions: one self-contained file that a coordinator opens or sends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, kw_only=True)
class Line:
    """An entity in the ranking, as it is shown.

    Args:
        outlook: what the decision says of it.
        share: predicted share, in text; empty where none is predicted.
        interval: 90% interval of the true share, likewise.
        reported: its last noisy share and the standard deviation of the noise.
        bar: left end, right end and centre of the interval, in pixels; None without.
    """

    outlook: Outlook
    share: str
    interval: str
    reported: str
    bar: tuple[float, float, float] | None


def percent(share: float | None) -> str:
    """A share in percent; empty for none.

    >>> percent(0.3149), percent(-0.02), percent(None)
    ('31.5%', '-2.0%', '')
    """
    return "" if share is None else f"{100 * share:.1f}%"


def ranking(decision: Decision) -> list[Line]:
    """The entities in the choice, best first; where nothing is ranked, as they report."""
    chosen = [it for it in decision.outlooks if it.rank is not None or it.named]
    others = [it for it in decision.outlooks if it.rank is None and not it.named and it.reports]
    chosen.sort(key=lambda it: (it.rank is None, it.rank or 0))
    shown = [*chosen, *others][:SHOWN]
    highest = max([it.high for it in shown if it.high is not None], default=1.0)
    return [_line(it, max(highest, 1e-9)) for it in shown]


def _line(outlook: Outlook, highest: float) -> Line:
    """How an entity is shown, with a bar that ends at the highest share."""
    reported, interval, bar = "", "", None
    if outlook.noisy_share is not None:
        reported = percent(outlook.noisy_share)
        reported += f" ± {100 * outlook.noise:.1f}" if outlook.noise else ""
    if outlook.share is not None and outlook.low is not None and outlook.high is not None:
        interval = f"{percent(outlook.low)} to {percent(outlook.high)}"
        low, high, centre = (
            round(min(max(end / highest, 0.0), 1.0) * _WIDTH, 1)
            for end in (outlook.low, outlook.high, outlook.share)
        )
        bar = low, high, centre
    return Line(
        outlook=outlook,
        share=percent(outlook.share),
        interval=interval,
        reported=reported,
        bar=bar,
    )


def decisions_page(decision: Decision, earlier: Sequence[Decision]) -> str:
    """The page as HTML.

    Args:
        decision: the one that is shown first.
        earlier: those before it, the newest first.
    """
    titles = {it.entity: it.title or it.entity for it in decision.outlooks}
    named = [it for it in decision.outlooks if it.named]
    named.sort(key=lambda it: decision.named.index(it.entity))
    spent, lines = decision.spent, ranking(decision)
    return load_template("decisions.html.j2", "dpol_weekly.coordinator").render(
        decision=decision,
        titles=titles,
        named=[_line(it, 1.0) for it in named],
        lines=lines,
        predicted=any(it.share for it in lines),
        width=_WIDTH,
        shown=SHOWN,
        earlier=earlier[:EARLIER],
        missing=[titles[name] for name in decision.missing],
        listed=LISTED,
        counted=counted,
        budget=f"{spent.budget_mu:g}",
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

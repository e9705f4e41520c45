"""The page of a decision: one self-contained file that a coordinator opens or sends."""

from __future__ import annotations

import datetime
from pathlib import Path

from dpol.core.files import write_text
from dpol.core.words import counted, listed
from dpol.show.pages import load_template
from dpol_weekly.coordinator.decision import Decision

SHOWN = 50
"""Number of entities that the page shows; the decision's file has all."""


def decision_page(decision: Decision, *, today: datetime.date) -> str:
    """Return the page as HTML, with a date that it shows."""
    there = [it for it in decision.outlooks if it.last_report]
    silent = sorted((it for it in decision.outlooks if it.silent), key=lambda it: -it.silent)
    titles = {it.entity: it.title for it in decision.outlooks}
    return load_template("decision.html.j2", "dpol_weekly.coordinator").render(
        decision=decision,
        gain=decision.coordination["question"],
        to=listed([titles[name] for name in decision.named], SHOWN),
        ranked=sorted(there, key=lambda it: (not it.named, it.rank is None, it.rank or 0))[:SHOWN],
        silent=silent[:SHOWN],
        more=max(0, len(silent) - SHOWN),
        today=today.isoformat(),
        current=decision.period_on(today).isoformat(),
        counted=counted,
    )


def write_page(folder: Path, decision: Decision, *, today: datetime.date) -> None:
    """Write `index.html` into the folder of a coordinator."""
    write_text(folder / "index.html", decision_page(decision, today=today))

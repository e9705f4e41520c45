"""Text on the result and the guarantee of a release, in plain words."""

from __future__ import annotations

import math
from functools import partial

from dpol.core.rounding import rounded_up
from dpol.core.words import counted, printable
from dpol.privacy.account import best_guess
from dpol.show.pages import load_template
from dpol_weekly.holder.history import budget_in_words
from dpol_weekly.holder.release import Release
from dpol_weekly.holder.views import record_of


def describe(done: Release, delta: float) -> list[str]:
    """The result and the guarantee, line by line; guarantees rounded to the safe side."""
    own = [part.terms.standard_deviation for part in done.parts]
    text = load_template("done.txt.j2", "dpol_weekly.holder").render(
        done=done,
        budget=done.agreed and done.worst and budget_in_words(done.agreed.terms, done.worst),
        delta=delta,
        mu=done.guarantee.mu,
        deviation=max(own, default=done.noise.standard_deviation),
        unit=done.guarantee.unit.replace("round", "period").capitalize(),
        memory=any(part.terms.a != part.terms.b for part in done.parts),
        root2=math.sqrt(2),
        record=record_of(done.output),
        shown=lambda path: printable(str(path)),  # A name may hold line ends.
        counted=counted,
        up=partial(rounded_up, digits=4),
        guess=lambda mu: rounded_up(100 * best_guess(mu), 3),
    )
    return text.splitlines()

"""Where a paper shows games: three columns of the result tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class InPaper:
    """Place of games in a paper.

    Args:
        exhibit: exhibit that shows them; empty for none.
        column: their column of the exhibit; a variant has its label.
        variant: whether they are a variant of the paper's, in a column beside its own.
    """

    exhibit: str = ""
    column: str = ""
    variant: bool = False


NOWHERE = InPaper()
"""Place of games that no exhibit shows."""

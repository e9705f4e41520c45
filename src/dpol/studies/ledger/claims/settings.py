"""Settings of the claims ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dpol.core.settings import Settings

Paper = Literal["experts", "lazy", "dartboard", "labels"]


class Claims(Settings):
    """The claims ledger: statements of the papers, each with a computed result."""


@dataclass(frozen=True, kw_only=True)
class ClaimsPoint:
    """Statements of a paper; with the summary and totals of a run as inputs, those about this run.

    Args:
        paper: label of the paper.
    """

    paper: Paper

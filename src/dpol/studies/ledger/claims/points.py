"""A point of the claims ledger."""

from __future__ import annotations

from dataclasses import dataclass

from dpol.studies.ledger.claims.settings import Paper


@dataclass(frozen=True, kw_only=True)
class ClaimsPoint:
    """Statements of a paper; with the summary and totals of a run as inputs, those about this run.

    Args:
        paper: label of the paper.
    """

    paper: Paper

"""Settings of the claims ledger."""

from __future__ import annotations

from typing import Literal

from dpol.core.settings import Settings

Paper = Literal["experts", "lazy", "dartboard", "labels"]
"""Label of a paper. It is a point: the statements of the paper or, with the summary and totals of a
run as inputs, those about this run."""


class Claims(Settings):
    """The claims ledger: statements of the papers, each with a computed result."""

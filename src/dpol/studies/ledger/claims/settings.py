"""Settings of the claims ledger."""

from __future__ import annotations

from typing import Literal, get_args

from dpol.core.settings import Settings, Several

Paper = Literal["experts", "lazy", "dartboard", "labels"]


class Claims(Settings):
    """The claims ledger: statements of the papers, each with a computed result."""

    papers: Several[Paper] = list(get_args(Paper))
    """Papers to check."""

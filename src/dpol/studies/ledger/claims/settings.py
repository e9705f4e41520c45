"""Settings of the claims ledger."""

from __future__ import annotations

from typing import Literal

from dpol.core.settings import Settings

Paper = Literal["experts", "lazy", "dartboard", "labels"]


class Claims(Settings):
    """The claims ledger: statements of the papers, each with a computed result."""

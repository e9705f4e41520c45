"""Settings of the claims ledger."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field

from dpol.core.settings import Settings, all_different

Paper = Literal["experts", "lazy", "dartboard", "coupling", "labels"]


class Claims(Settings):
    """The claims ledger: statements of the papers, each with a computed result."""

    papers: Annotated[list[Paper], Field(min_length=1), AfterValidator(all_different)] = list(
        get_args(Paper)
    )
    """Papers to check."""

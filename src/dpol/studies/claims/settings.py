"""Settings of the ledger of claims."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field

from dpol.core.settings import Settings, all_different

Paper = Literal["experts", "lazy", "labels"]


class Claims(Settings):
    """The ledger of what the papers claim, each statement with what was computed."""

    papers: Annotated[list[Paper], Field(min_length=1), AfterValidator(all_different)] = list(
        get_args(Paper)
    )
    """Papers whose statements are checked."""

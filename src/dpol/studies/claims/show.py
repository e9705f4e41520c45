"""The section of the page on the claims ledger."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dpol.studies.claims.settings import Claims
from dpol.studies.study import Facts, Frames, Section, TableSpec

if TYPE_CHECKING:
    from dpol.show.table import Table


@partial(TableSpec, name="claims-open", title="Claims that fail or are open", place="folded")
def _open_claims_table(frames: Frames, settings: Claims, facts: Facts) -> Table:
    from dpol.studies.claims.shown import open_claims_table

    return open_claims_table(frames, settings, facts)


@partial(TableSpec, name="claims", title="The whole ledger", place="file")
def _claims_table(frames: Frames, settings: Claims, facts: Facts) -> Table:
    from dpol.studies.claims.shown import claims_table

    return claims_table(frames, settings, facts)


SECTIONS = (
    Section(
        name="claims",
        chapter="claims",
        about="Each statement that a computation can check, the computed value, and the verdict.",
        results=("claims",),
        tables=(_open_claims_table, _claims_table),
    ),
)
"""Sections of the page, in their order."""

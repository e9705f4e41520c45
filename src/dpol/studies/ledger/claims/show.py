"""The section of the page on the claims ledger."""

from dpol.studies.study import Exhibit, Section

SECTIONS = (
    Section(
        name="claims",
        chapter="claims",
        about="Each statement that a computation can check, the computed value, and the verdict.",
        results=("claims",),
        tables=(
            Exhibit(
                name="claims",
                made_by="dpol.studies.ledger.claims.drawn:claims_table",
                title="Each claim, and what fails",
                place="folded",
            ),
        ),
    ),
)
"""Sections of the page, in their order."""

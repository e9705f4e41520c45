"""The section of the page on the claims ledger."""

from dpol.studies.study import Section, TableSpec

SECTIONS = (
    Section(
        name="claims",
        package="dpol.studies.ledger.claims",
        chapter="claims",
        about="Each statement that a computation can check, the computed value, and the verdict.",
        results=("claims",),
        tables=(
            TableSpec(name="claims-open", title="Claims that fail or are open", place="folded"),
            TableSpec(name="claims", title="The whole ledger", place="file"),
        ),
    ),
)
"""Sections of the page, in their order."""

"""The section of the page on audits."""

from dpol.studies.study import Section, TableSpec

SECTIONS = (
    Section(
        name="audits",
        package="dpol.studies.ledger.audits",
        chapter="privacy",
        title="Attacks on the mechanisms",
        about="Mechanisms are attacked. The success of an attack gives a lower bound on the true"
        " privacy parameter. A claim below that bound is refuted. The notes below the table say"
        " what ran.",
        results=("audits",),
        tables=(
            TableSpec(name="audits-closest", title="What the outputs prove", place="seen"),
            TableSpec(name="audits", title="Audits of privacy", place="file"),
        ),
    ),
)
"""Sections of the page, in their order."""

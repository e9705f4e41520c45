"""The section of the page on audits."""

from dpol.studies.study import Section, TableSpec

SECTIONS = (
    Section(
        name="audits",
        package="dpol.studies.ledger.audits",
        chapter="privacy",
        title="Attacks on the mechanisms",
        about="dpol attacks each mechanism. The success of an attack gives a lower bound on the"
        " true privacy parameter, and refutes a claim below that bound. The notes below the table"
        " say what ran.",
        results=("audits",),
        tables=(
            TableSpec(name="audits-closest", title="What the outputs prove", place="folded"),
            TableSpec(name="audits", title="Audits of privacy", place="file"),
        ),
    ),
)
"""Sections of the page, in their order."""

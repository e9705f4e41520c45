"""The section of the page on audits."""

from dpol.studies.study import Exhibit, Section

SECTIONS = (
    Section(
        name="audits",
        chapter="privacy",
        title="Attacks on the mechanisms",
        about="dpol attacks each mechanism. The success of an attack gives a lower bound on the"
        " true privacy parameter, and refutes a claim below that bound. The notes below the table"
        " say what ran.",
        results=("audits",),
        tables=(
            Exhibit(
                name="audits",
                made_by="dpol.studies.ledger.audits.drawn:audits_table",
                title="What the outputs prove",
                place="folded",
            ),
        ),
    ),
)
"""Sections of the page, in their order."""

"""The claims ledger as a table: its sections and cells."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from claims_by_hand import claim_by_hand, ledger_of
from dpol.show.table import Mark, Table, TableCell
from dpol.show.words import EXPERTS
from dpol.studies.ledger.claims.core import Claim
from dpol.studies.ledger.claims.drawn import ON_DATA, claims_table

FAILS, HOLDS = Mark("does not hold", "bad"), Mark("holds", "good")
SAMPLED = {"interval": (511.06, 541.02), "confidence": 0.9999, "witness": "n = 2: mean 526"}
FALSE = {"kind": "false", "root": "Theorem 4", "mend": "n = 1", "note": "n = 2"}
CONSTANT = {"kind": "constant", "root": "equation (2)", "mend": "1 for 0"}
CLAIMS = (
    replace(claim_by_hand(2.0, "<=", 1.5, note="n = 2"), tried={"n": "2 to 1,000,000 (4)"}),
    claim_by_hand(12345.6, ">=", 30000.0, paper="Three", place="Lemma 2"),
    claim_by_hand(0.0, "<=", 0.25, paper="Two", witness="x = 1", note="why", **CONSTANT),
    claim_by_hand(127.1, "<=", 526.04, place="Theorem 4", **SAMPLED, **FALSE),
)


def table_of(*claims: Claim) -> Table:
    return claims_table({"claims": ledger_of(*claims)}, None)


def lines(table: Table, section: int = 0) -> dict[str, tuple[TableCell, ...]]:
    (group,) = table.sections[section].groups
    return dict(group.lines)


def test_papers_are_sections_and_failures_come_first() -> None:
    table = table_of(*CLAIMS)
    assert [(section.title, section.note) for section in table.sections] == [
        ("“One”", "2 rows: does not hold as stated: 1; holds: 1; roots of what does not hold: 1"),
        ("“Three”", "1 row: holds loosely: 1"),
        ("“Two”", "1 row: does not hold as stated: 1; roots of what does not hold: 1"),
    ]
    assert list(lines(table)) == ["Theorem 4", "Theorem 1"]
    pd.testing.assert_frame_equal(table.numbers, ledger_of(*CLAIMS))


def said(table: Table, section: int, label: str) -> list[str]:
    """Return the texts of a line, each with its notes."""
    return [" | ".join([cell.text, *cell.notes]) for cell in lines(table, section)[label]]


def test_every_cell() -> None:
    table = table_of(*CLAIMS)
    assert said(table, 0, "Theorem 1") == [
        "is so | Tried: n: 2 to 1,000,000 (4). | Computed: by hand.",
        *("≤ 2", "1.5", "0.75", "holds | Note: n = 2. | Settings: 1."),
    ]
    texts = [cell.text for cell in lines(table, 1)["Lemma 2"]]
    assert texts == ["is so", "≥ 12,346", "30,000", "2.43", "holds loosely"]
    assert said(table, 2, "Theorem 1")[1:] == [
        *("≤ 0", "0.25", "—"),
        "does not hold as stated: constant | Counterexample: x = 1. | Put right by: 1 for 0."
        " | Root: equation (2). | Note: why. | Settings: 1.",
    ]
    # A sampled number has its interval. The counterexample repeats the note, which is left out.
    assert said(table, 0, "Theorem 4")[2:] == [
        *("526 | 511.1 to 541", "4.14"),
        "does not hold as stated: false | Counterexample: n = 2: mean 526. | Put right by: n = 1."
        " | Root: Theorem 4. | Settings: 1.",
    ]
    verdicts = [lines(table)["Theorem 1"], lines(table, 2)["Theorem 1"], lines(table)["Theorem 4"]]
    marks = [cells[-1].mark for cells in verdicts]
    assert marks == [HOLDS, Mark("easily put right", "open"), FAILS]
    assert not any(cell.mark for cells in verdicts for cell in cells[:-1])


def test_findings_on_data_stand_apart_and_are_never_red() -> None:
    table = table_of(
        CLAIMS[2],
        claim_by_hand(1.5, ">=", 1.2, place="abstract", on_data=True),
        claim_by_hand(0.8, ">=", 1.2, place="section 4", on_data=True),
    )
    assert [section.title for section in table.sections] == ["“Two”", ON_DATA]
    verdicts = {label: cells[-1] for label, cells in lines(table, 1).items()}
    assert {label: cell.text for label, cell in verdicts.items()} == {
        "abstract": "not seen on these data",
        "section 4": "seen on these data",
    }
    assert {cell.mark.tone for cell in verdicts.values() if cell.mark} == {"open", "good"}


def test_grounds_bounds_and_the_trivial_number_are_shown() -> None:
    """Only rows of the experts' paper say their grounds; open rows come first."""
    table = table_of(
        claim_by_hand(91739.0, "<=", 1190.0, trivial=2773.0),
        claim_by_hand(1.0, "<=", 1.247, place="Lemma 5", measured_is="upper bound"),
        claim_by_hand(paper=EXPERTS, ground="derived"),
    )
    assert list(lines(table)) == ["Lemma 5", "Theorem 1"]
    open_row, silent = lines(table).values()
    assert (open_row[2], open_row[-1].text) == (TableCell("1.247", ("upper bound",)), "not proved")
    assert silent[1] == TableCell("≤ 91,739", ("without it: 2773",))
    notes = [line[0].notes[0] for n in range(2) for line in lines(table, n).values()]
    assert notes == [*["Computed: by hand."] * 2, "Ground: derived."]

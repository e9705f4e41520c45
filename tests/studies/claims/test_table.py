"""The claims ledger as a table: its sections, cells and footers."""

from __future__ import annotations

import pandas as pd

from claims_by_hand import claim_by_hand, ledger_of
from dpol.show.marks import Mark
from dpol.show.papers import EXPERTS
from dpol.show.table import Table, TableCell
from dpol.studies.claims.core import Claim, Verdict
from dpol.studies.claims.settings import Claims
from dpol.studies.claims.shown import ON_DATA, OWN, claims_table, open_claims_table
from dpol.studies.study import Facts

FAILS, HOLDS = Verdict.FAILS.mark, Verdict.HOLDS.mark
NASTY = "a & b_<c>% [d] #1"
SAMPLED = {"interval": (511.06, 541.02), "confidence": 0.9999}
FALSE = {"kind": "false", "root": "Theorem 4", "mend": "n = 1"}
CONSTANT = {"kind": "constant", "root": "equation (2)", "mend": "1 for 0"}
CLAIMS = (
    claim_by_hand(2.0, "<=", 1.5, note="n = 2"),
    claim_by_hand(12345.6, ">=", 30000.0, place="Lemma 2", statement=NASTY, ours=True),
    claim_by_hand(0.0, "<=", 0.25, paper="Two", witness="x = 1", note="why", **CONSTANT),
    claim_by_hand(
        *(127.1, "<=", 526.04),
        **SAMPLED,
        place="Theorem 4",
        witness="n = 2: mean 526",
        note="n = 2",
        **FALSE,
    ),
)


def table_of(*claims: Claim) -> Table:
    facts = Facts({}, simulated=False, confidence=0.95)
    return claims_table({"claims": ledger_of(*claims)}, Claims(), facts)


def lines(table: Table, section: int = 0) -> list[tuple[str, tuple[TableCell, ...]]]:
    (group,) = table.sections[section].groups
    return list(group.lines)


def test_papers_are_sections_and_failures_come_first() -> None:
    table = table_of(*CLAIMS)
    assert [(section.title, section.note) for section in table.sections] == [
        ("“One”", "2 rows: 1 holds, 1 does not hold as stated; what does not hold has 1 root"),
        ("“Two”", "1 row: 1 does not hold as stated; what does not hold has 1 root"),
        (OWN, "1 row: 1 holds (1 loosely)"),
    ]
    assert [label for label, _ in lines(table)] == ["Theorem 4", "Theorem 1"]
    assert [label for label, _ in lines(table, 2)] == ["Lemma 2 †"]
    pd.testing.assert_frame_equal(table.numbers, ledger_of(*CLAIMS))


def test_the_short_ledger_has_one_line_for_all_that_holds_and_the_same_counts() -> None:
    facts = Facts({}, simulated=False, confidence=0.95)
    short = open_claims_table({"claims": ledger_of(*CLAIMS)}, Claims(), facts)
    whole = table_of(*CLAIMS)
    assert [section.note for section in short.sections] == [each.note for each in whole.sections]
    (name, failed), (label, cells) = lines(short)
    assert (name, [cell.text for cell in failed]) == (
        lines(whole)[0][0],
        [cell.text for cell in lines(whole)[0][1]],
    )
    # The computation, the root and the notes are in the whole ledger.
    assert failed[0].notes == ()
    assert [note.split(":")[0] for note in failed[-1].notes] == ["Counterexample", "Put right by"]
    assert (label, cells[0]) == ("1 other", TableCell(""))
    assert cells[-1].text == "1 holds"
    assert len(lines(short)) == 2


def test_every_cell() -> None:
    table = table_of(*CLAIMS)
    first = dict(lines(table))
    assert first["Theorem 1"] == (
        TableCell("is so", ("Computed: by hand.",)),
        TableCell("≤ 2"),
        TableCell("1.5"),
        TableCell("0.75"),
        TableCell("holds", ("In 1 setting.", "Note: n = 2."), mark=HOLDS),
    )
    assert dict(lines(table, 2))["Lemma 2 †"] == (
        TableCell(NASTY, ("Computed: by hand.",)),
        TableCell("≥ 12,346"),
        TableCell("30,000"),
        TableCell("2.43"),
        TableCell("holds loosely: measured is 2.43 times claimed", ("In 1 setting.",), mark=HOLDS),
    )
    assert lines(table, 1)[0][1][1:] == (
        TableCell("≤ 0"),
        TableCell("0.25"),
        TableCell("—"),
        TableCell(
            "does not hold as stated: constant",
            (
                *("Counterexample: x = 1.", "Root: equation (2).", "Put right by: 1 for 0."),
                "Note: why.",
            ),
            mark=Mark("easily put right", "open"),
        ),
    )
    # A sampled number has its interval. The counterexample repeats the note, which is left out.
    assert first["Theorem 4"][1:] == (
        TableCell("≤ 127.1"),
        TableCell("526", ("511.1 to 541",)),
        TableCell("4.14"),
        TableCell(
            "does not hold as stated: false",
            ("Counterexample: n = 2: mean 526.", "Root: Theorem 4.", "Put right by: n = 1."),
            mark=FAILS,
        ),
    )


def test_findings_on_data_and_our_questions_stand_apart_and_are_never_red() -> None:
    own = {"ours": True, "kind": "own question"}
    table = table_of(
        CLAIMS[2],
        claim_by_hand(1.5, ">=", 1.2, place="abstract", on_data=True),
        claim_by_hand(0.8, ">=", 1.2, place="section 4", on_data=True),
        claim_by_hand(1.5, ">=", 1.2, place="against mf-ftpl", on_data=True, **own),
    )
    assert [section.title for section in table.sections] == ["“Two”", ON_DATA, OWN]
    verdicts = {label: cells[-1] for n in (1, 2) for label, cells in lines(table, n)}
    assert {label: cell.text for label, cell in verdicts.items()} == {
        "abstract": "not seen on these data",
        "section 4": "seen on these data",
        "against mf-ftpl †": "not seen on these data: own question",
    }
    assert {cell.mark.tone for cell in verdicts.values() if cell.mark} == {"open", "good"}
    assert table.sections[1].note == "2 rows: 1 is not seen on these data, 1 is seen on these data"


def test_rows_of_the_experts_paper_say_and_count_their_grounds() -> None:
    about = {"paper": EXPERTS}
    table = table_of(
        CLAIMS[0],
        claim_by_hand(place="Lemma 5", ground="derived", **about),
        claim_by_hand(place="section 4, trees", ground="derived", **about),
        claim_by_hand(place="Theorem 2", ground="summary", **about),
        claim_by_hand(0.8, ">=", 1.2, place="abstract", ground="text", on_data=True, **about),
        claim_by_hand(place="Theorem 2", statement="ours", ours=True, **about),
    )
    (counts,) = (footer for footer in table.footers if "lost its formulas" in footer)
    assert counts.split("Grounds of its ")[1] == (
        "4 rows: Text, the words of the paper: 1."
        " Summary, a formula on which two third-party summaries of the paper agree: 1."
        " Derived, by us alone, so the row judges our reading: 2 (Lemma 5; section 4, trees)."
    )
    notes = [cells[0].notes for n in range(4) for _, cells in lines(table, n)]
    grounds = [[note for note in each if note.startswith("Ground")] for each in notes]
    derived, summary, text = ([f"Ground: {ground}."] for ground in ("derived", "summary", "text"))
    assert grounds == [[], derived, derived, summary, text, []]
    assert table.numbers["ground"].tolist() == [
        *("text", "derived", "derived", "summary", "text", "")
    ]
    assert not any("formulas" in footer for footer in table_of(CLAIMS[0]).footers)


def test_a_bound_and_the_trivial_number_are_shown() -> None:
    silent = claim_by_hand(91739.0, "<=", 1190.0, trivial=2773.0)
    unproved = claim_by_hand(1.0, "<=", 1.247, measured_is="upper bound")
    undecided = claim_by_hand(520.0, "<=", 526.04, **SAMPLED)
    table = table_of(silent, undecided, unproved)
    first, second, third = (entries for _, entries in lines(table))  # open rows come first
    assert (first[2], first[-1].text) == (TableCell("1.247", ("upper bound",)), "not proved")
    assert second[-1].text == "undecided"
    assert third[1] == TableCell("≤ 91,739", ("without it: 2773",))
    assert third[-1].text == "vacuous here"
    counts = "1 is not proved, 1 is undecided, 1 is vacuous here"
    assert table.sections[0].note == f"3 rows: {counts}"

"""The claims ledger as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dpol.core.words import counted
from dpol.show.table import Column, Line, Mark, Table, TableCell, one_section
from dpol.show.words import EXPERTS, cited
from dpol.studies.ledger.claims.core import OF_SUBSTANCE, ClaimVerdict
from dpol.studies.study import Facts, Frames

_SIGNS = {"<=": "≤", ">=": "≥", "=": "="}
_MARKS: Mapping[str, Mark] = {
    ClaimVerdict.FAILS: Mark("does not hold", "bad"),
    ClaimVerdict.NOT_SEEN: Mark("not seen", "open"),
    ClaimVerdict.NOT_PROVED: Mark("open", "open"),
    ClaimVerdict.UNDECIDED: Mark("open", "open"),
    ClaimVerdict.HOLDS: Mark("holds", "good"),
    ClaimVerdict.LOOSE: Mark("holds", "good"),
    ClaimVerdict.SEEN: Mark("seen", "good"),
    ClaimVerdict.VACUOUS: Mark("vacuous", "open"),
}
_ORDER = [*ClaimVerdict]
_SLIP = Mark("easily put right", "open")
ON_DATA = "What the papers saw on their data, on the data of this run"
_FOOTERS = (
    "Does not hold as stated: the number is on the wrong side, and so is its whole interval if it"
    " was sampled. Not seen: a finding on other data that the data of this run do not show; this"
    " refutes nothing.",
    "Not proved: only a bound on the number was computed, and it is on the wrong side. This neither"
    " proves nor refutes the claim. Undecided: part of the interval is on the wrong side.",
    "Holds loosely: the two numbers differ by a factor of 2 or more, so an error of the claim by a"
    " smaller factor would pass. Vacuous: the claim is no better than what is reached without it"
    " (last line of the claimed number).",
    "A row that does not hold gives its kind, its root, and what puts it right. Rows with the same"
    f" root come from one slip. Rows marked “{'” or “'.join(OF_SUBSTANCE)}” are of substance; the"
    " others are easily put right.",
    f"Our copy of {cited(EXPERTS)} lost its formulas. Grounds of its rows: text, the words of the"
    " paper; summary, a formula on which two third-party summaries of the paper agree; derived, by"
    " us alone, so the row judges our reading. No summary gives its regressors. As we read it, they"
    " are lines fitted to each expert's last noisy gains: rows on RW-Meta's learners and on linear"
    " models judge these.",
    "Slack: measured number over claimed number.",
    "Below a sampled number: its interval, and its confidence is in the file (means: Student;"
    " probabilities: Clopper-Pearson). It covers the randomness of the runs on the row's streams,"
    " not other streams.",
    "A verdict is about what was computed. A claim that holds here is not proved: it held in the"
    " number of settings that its row gives.",
)


def claims_table(frames: Frames, facts: Facts) -> Table:
    """Build the ledger: a section for each paper, and one for findings on data.

    Rows that fail or are open come first in their section.
    """
    frame = frames["claims"]
    on_data = frame["on_data"].astype(bool)
    theirs = frame[~on_data].groupby("paper", sort=False)
    parts = {cited(str(paper)): rows for paper, rows in theirs} | {ON_DATA: frame[on_data]}
    sections = []
    for title, rows in parts.items():
        lines = rows.sort_values("verdict", key=lambda it: it.map(_ORDER.index), kind="stable")
        if len(rows):
            sections.append(one_section(map(_line, lines.to_dict("records")), title, _counts(rows)))
    return Table(
        caption="All rows of the ledger",
        corner=("paper", "statement"),
        headers=(
            Column("claim", prose=True),
            *("claimed", "measured", "slack"),
            Column("verdict", prose=True),
        ),
        sections=tuple(sections),
        footers=_FOOTERS,
        numbers=frame,
        filtered="statements",
    )


def _counts(rows: pd.DataFrame) -> str:
    """Count the verdicts of a section, worst first, and the roots of its failures."""
    counts = rows["verdict"].value_counts()
    each = "; ".join(
        f"{verdict}: {counts[verdict]}" for verdict in ClaimVerdict if verdict in counts
    )
    slips = rows.loc[rows["root"] != "", "root"].nunique()
    roots = f"; roots of what does not hold: {slips}" if slips else ""
    return f"{counted(len(rows), 'row')}: {each}{roots}"


def _line(row: dict[Any, Any]) -> Line:
    sampled = row["confidence"] < 1
    below = [f"{_number(row['lower'])} to {_number(row['upper'])}"] if sampled else []
    if row["measured_is"] != "number":
        below.append(str(row["measured_is"]))
    without = () if pd.isna(row["trivial"]) else (f"without it: {_number(row['trivial'])}",)
    # Statements of the other papers all rest on their text.
    ground = row["ground"] if row["paper"] == EXPERTS else ""
    about = {"Tried": row["tried"], "Ground": ground, "Computed": row["computed"]}
    reasons = {"Counterexample": row["counterexample"], "Put right by": row["mend"]}
    note = "" if row["note"] in row["counterexample"] else row["note"]
    reasons |= {"Root": row["root"], "Note": note, "Settings": row["settings"]}
    slip = row["verdict"] == ClaimVerdict.FAILS and row["kind"] not in OF_SUBSTANCE
    return str(row["statement"]), (
        TableCell(row["claim"], _notes(about)),
        TableCell(f"{_SIGNS[row['relation']]} {_number(row['claimed'])}", without),
        TableCell(_number(row["measured"]), tuple(below)),
        TableCell(_number(row["slack"], 3) if row["claimed"] else "—"),
        TableCell(
            f"{row['verdict']}: {row['kind']}" if row["kind"] else row["verdict"],
            _notes(reasons),
            mark=_SLIP if slip else _MARKS[row["verdict"]],
        ),
    )


def _notes(texts: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(f"{of}: {text}." for of, text in texts.items() if text)


def _number(value: float, digits: int = 4) -> str:
    """Format a number with four digits, and commas between thousands."""
    return f"{value:,.0f}" if 10**4 <= abs(value) < 10**9 else f"{value:.{digits}g}"

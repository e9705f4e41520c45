"""The claims ledger as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from dpol.core.words import counted
from dpol.show.marks import Mark
from dpol.show.names import marked
from dpol.show.papers import EXPERTS, cited
from dpol.show.table import Column, Line, Table, TableCell, one_section
from dpol.studies.claims.core import OF_SUBSTANCE, Ground, Verdict
from dpol.studies.claims.settings import Claims
from dpol.studies.study import Facts, Frames

_SIGNS = {"<=": "≤", ">=": "≥", "=": "="}
_WORST_FIRST = list(Verdict)
_MARKS = {str(verdict): verdict.mark for verdict in Verdict}
_SLIP = Mark("easily put right", "open")


def claims_table(frames: Frames, settings: Claims, facts: Facts) -> Table:
    """Build the ledger: a section for each paper, one for findings on data, and one for ours.

    Rows that fail or are open come first in their section.
    """
    caption = "All rows of the ledger"
    return _ledger(
        frames["claims"], "claims", caption, lambda rows: [_line(row) for row in _worst_first(rows)]
    )


def open_claims_table(frames: Frames, settings: Claims, facts: Facts) -> Table:
    """Build the short ledger: rows that fail or are open, and the number of rows that hold.

    The whole ledger says how each number was computed, with notes.
    """
    return _ledger(
        frames["claims"], "claims-open", "Rows of the ledger that fail or are open", _open_lines
    )


def _open_lines(rows: pd.DataFrame) -> list[Line]:
    ordered = _worst_first(rows)
    held = [row for row in ordered if _rank(row) == _WORST_FIRST.index(Verdict.HOLDS)]
    lines = [_line(row, short=True) for row in ordered[: len(ordered) - len(held)]]
    if held:
        cells = *[TableCell("")] * 4, TableCell(count_verdicts(pd.DataFrame(held)))
        lines.append((counted(len(held), "other"), cells))
    return lines


def _worst_first(rows: pd.DataFrame) -> list[dict[Any, Any]]:
    return sorted(rows.to_dict("records"), key=_rank)


ON_DATA = "What the papers saw on their data, on the data of this run"
OWN = "Our questions †"
_GROUNDS: Mapping[Ground, str] = {
    "text": "the words of the paper",
    "summary": "a formula on which two third-party summaries of the paper agree",
    "derived": "by us alone, so the row judges our reading",
}
"""What rows of the experts' paper rest on."""


def _listed(kinds: Iterable[str]) -> str:
    return " or ".join(f"“{kind}”" for kind in kinds)


def _ledger(
    frame: pd.DataFrame, name: str, caption: str, lines: Callable[[pd.DataFrame], list[Line]]
) -> Table:
    ours, on_data = frame["ours"].astype(bool), frame["on_data"].astype(bool)
    theirs = frame[~ours & ~on_data].groupby("paper", sort=False)
    parts = {cited(str(paper)): rows for paper, rows in theirs}
    parts |= {ON_DATA: frame[~ours & on_data], OWN: frame[ours]}
    sections = [
        one_section(lines(rows), title, _counts(rows)) for title, rows in parts.items() if len(rows)
    ]
    return Table(
        caption=caption,
        name=name,
        corner=("paper", "statement"),
        headers=(
            Column("claim", prose=True),
            *("claimed", "measured", "slack"),
            Column("verdict", prose=True),
        ),
        sections=tuple(sections),
        footers=(
            *(f"{verdict.value.capitalize()}: {verdict.meaning}" for verdict in Verdict),
            "A row that does not hold gives its kind, its root, and what puts it right. Rows with"
            f" the same root come from one slip. Rows marked {_listed(OF_SUBSTANCE)} are of"
            " substance; the others are easily put right.",
            *_on_grounds(frame[~ours & (frame["paper"] == EXPERTS)]),
            "Slack: measured number over claimed number.",
            *_on_intervals(frame),
            "A verdict is about what was computed. A claim that holds here is not proved: it held"
            " in the number of settings that its row gives.",
            "†: ours, not in the paper.",
        ),
        numbers=frame,
        filtered="statements" if name == "claims" else "lines",
    )


def _rank(row: dict[Any, Any]) -> int:
    """Return the rank of a row, worst first. All verdicts that hold rank the same."""
    return min(map(_WORST_FIRST.index, (row["verdict"], Verdict.HOLDS)))


def count_verdicts(claims: pd.DataFrame) -> str:
    """Say how many claims got each verdict.

    >>> count_verdicts(pd.DataFrame({"verdict": [Verdict.HOLDS, Verdict.LOOSE, Verdict.FAILS]}))
    '2 hold (1 loosely), 1 does not hold as stated'
    """
    counts = claims["verdict"].value_counts()
    loose = int(counts.get(Verdict.LOOSE, 0))
    held = int(counts.get(Verdict.HOLDS, 0)) + loose
    hold = f"{held} {'holds' if held == 1 else 'hold'}"
    parts = [hold + (f" ({loose} loosely)" if loose else "")] if held else []
    for verdict in _WORST_FIRST:
        count = int(counts.get(verdict, 0))
        if count and verdict not in (Verdict.HOLDS, Verdict.LOOSE):
            parts.append(f"{count} {verdict.one if count == 1 else verdict.several}")
    return ", ".join(parts)


def _counts(rows: pd.DataFrame) -> str:
    """Count the verdicts of a section, and the roots of its failures."""
    slips = rows.loc[rows["root"] != "", "root"].nunique()
    from_roots = f"; what does not hold has {counted(slips, 'root')}" if slips else ""
    return f"{counted(len(rows), 'row')}: {count_verdicts(rows)}{from_roots}"


def _on_grounds(rows: pd.DataFrame) -> tuple[str, ...]:
    """Count the rows of the experts' paper by ground, and name those that we derived."""
    if rows.empty:
        return ()
    counts = []
    for ground, words in _GROUNDS.items():
        places = rows.loc[rows["ground"] == ground, "statement"]
        named = f" ({'; '.join(places)})" if ground == "derived" and len(places) else ""
        counts.append(f"{ground.capitalize()}, {words}: {len(places)}{named}.")
    return (
        f"Our copy of {cited(EXPERTS)} lost its formulas. Grounds of its"
        f" {counted(len(rows), 'row')}: {' '.join(counts)}",
        "No summary gives its regressors. As we read it, they are lines fitted to each expert's"
        " last noisy gains: rows on RW-Meta's learners and on linear models judge these.",
    )


def _on_intervals(frame: pd.DataFrame) -> tuple[str, ...]:
    sampled = frame.loc[frame["confidence"] < 1, "confidence"]
    if sampled.empty:
        return ()
    return (
        f"Below a sampled number: its interval, with confidence {100 * sampled.min():.4g}% or"
        " more (means: Student; probabilities: Clopper-Pearson). It covers the randomness of the"
        " runs on the row's streams, not other streams.",
    )


def _line(row: dict[Any, Any], *, short: bool = False) -> Line:
    sampled = row["confidence"] < 1
    below = [f"{_number(row['lower'])} to {_number(row['upper'])}"] if sampled else []
    if row["measured_is"] != "number":
        below.append(str(row["measured_is"]))
    without = () if pd.isna(row["trivial"]) else (f"without it: {_number(row['trivial'])}",)
    reasons = {
        "Counterexample": row["counterexample"],
        "Root": "" if short else row["root"],
        "Put right by": row["mend"],
        "Note": "" if short or row["note"] in row["counterexample"] else row["note"],
    }
    tested = () if row["kind"] else (f"In {counted(int(row['settings']), 'setting')}.",)
    # Statements of the other papers all rest on their text.
    ground = (f"Ground: {row['ground']}.",) if row["paper"] == EXPERTS and row["ground"] else ()
    computed = () if short else (f"Computed: {row['computed']}.",)
    return marked(row["statement"], row["ours"]), (
        TableCell(row["claim"], (*ground, *computed)),
        TableCell(f"{_SIGNS[row['relation']]} {_number(row['claimed'])}", without),
        TableCell(_number(row["measured"]), tuple(below)),
        TableCell(_number(row["slack"], 3) if row["claimed"] else "—"),
        TableCell(
            _verdict(row),
            (*tested, *(f"{of}: {reason}." for of, reason in reasons.items() if reason)),
            mark=_mark(row),
        ),
    )


def _mark(row: dict[Any, Any]) -> Mark:
    """Return the mark of the verdict, a milder one for a slip that is easily put right."""
    if row["verdict"] == Verdict.FAILS and row["kind"] and row["kind"] not in OF_SUBSTANCE:
        return _SLIP
    return _MARKS[row["verdict"]]


def _verdict(row: dict[Any, Any]) -> str:
    """Return the verdict with its kind, or with the factor by which a claim is loose."""
    if row["verdict"] != Verdict.LOOSE:
        return f"{row['verdict']}: {row['kind']}" if row["kind"] else str(row["verdict"])
    names = ("claimed", "measured") if row["relation"] == "<=" else ("measured", "claimed")
    larger, smaller = (row[name] for name in names)
    if not smaller > 0:
        return f"{Verdict.LOOSE}: measured is not above 0"
    return f"{Verdict.LOOSE}: {names[0]} is {_number(larger / smaller, 3)} times {names[1]}"


def _number(value: float, digits: int = 4) -> str:
    """Format a number with four digits, and commas between thousands."""
    return f"{value:,.0f}" if 10**4 <= abs(value) < 10**9 else f"{value:.{digits}g}"

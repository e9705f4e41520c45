"""The claims ledger as a table."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dpol.errors import DataError
from dpol.evaluation.claims.core import CLAIM_COLUMNS, FAILS, HOLDS, LOOSE, UNDECIDED
from dpol.frames import check_frame
from dpol.tables.text import Entry, Group, Section, TextTable

_SIGNS = {"<=": "≤", ">=": "≥", "=": "="}
_COUNTED = {FAILS: "fail", LOOSE: "loose", HOLDS: "hold", UNDECIDED: "undecided"}


def claims_table(frame: pd.DataFrame) -> TextTable:
    """The ledger, one section for each paper; what fails comes first in its section.

    Args:
        frame: table of `dpol.evaluation.claims.study.study_claims`.

    Raises:
        DataError: a column is missing, the table is empty, or a verdict is unknown.
    """
    _check(frame)
    sections = []
    for paper, rows in frame.groupby("paper", sort=False):
        ordered = rows.iloc[(rows["verdict"] != FAILS).to_numpy().argsort(kind="stable")]
        lines = tuple((_statement(row), _entries(row)) for row in ordered.to_dict("records"))
        sections.append(Section(f"“{paper}”", _count(rows["verdict"]), (Group("", lines),)))
    return TextTable(
        caption="Claims of the papers, checked",
        name="claims",
        corner=("paper", "statement"),
        headers=("claim", "claimed", "measured", "slack", "verdict"),
        sections=tuple(sections),
        footers=(
            "A claim holds if the measured number compares with the claimed one as it says; it is"
            " loose if it is off by a factor of 2 or more. It does not hold as stated if the"
            " number, with the whole of its interval where it was sampled, is on the wrong side."
            " Slack is measured over claimed.",
            *_on_intervals(frame),
            "A verdict is about what was computed. What holds here is not thereby proved; the"
            " settings are in the table.",
            "†: ours, not in the paper.",
        ),
        prose=("claim", "verdict"),
    )


def _check(frame: pd.DataFrame) -> None:
    check_frame(frame, CLAIM_COLUMNS, "claims")
    unknown = sorted(set(frame["verdict"]) - set(_COUNTED))
    if unknown:
        raise DataError(
            f"the table of claims has the verdict {unknown[0]!r}; delete it and run again"
        )


def _count(verdicts: pd.Series) -> str:
    counts = {word: int((verdicts == verdict).sum()) for verdict, word in _COUNTED.items()}
    found = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"{len(verdicts)} rows: {found}"


def _on_intervals(frame: pd.DataFrame) -> tuple[str, ...]:
    sampled = frame.loc[frame["confidence"] < 1, "confidence"]
    if sampled.empty:
        return ()
    return (
        f"Below a sampled number: its interval, of confidence {100 * sampled.min():.4g}% or"
        " more (means: normal approximation; probabilities: Clopper-Pearson).",
    )


def _statement(row: dict[Any, Any]) -> str:
    return f"{row['statement']}{' †' if row['ours'] else ''}"


def _entries(row: dict[Any, Any]) -> tuple[Entry, ...]:
    sampled = row["confidence"] < 1
    interval = (f"{_number(row['lower'])} to {_number(row['upper'])}",) if sampled else ()
    reasons = {"Counterexample": row["counterexample"], "Note": row["note"]}
    if reasons["Note"] in reasons["Counterexample"]:
        del reasons["Note"]
    return (
        Entry(row["claim"], (f"Computed: {row['computed']}.",)),
        Entry(f"{_SIGNS[row['relation']]} {_number(row['claimed'])}"),
        Entry(_number(row["measured"]), interval),
        Entry(_number(row["slack"], 3) if row["claimed"] else "—"),
        Entry(row["verdict"], tuple(f"{of}: {it}." for of, it in reasons.items() if it)),
    )


def _number(value: float, digits: int = 4) -> str:
    """Four digits, thousands set apart."""
    return f"{value:,.0f}" if 10**4 <= abs(value) < 10**9 else f"{value:.{digits}g}"

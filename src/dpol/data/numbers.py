"""Counts, capacities and cases of a raw table as numbers, with the markers of a config."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from dpol.core.randomness import Floats
from dpol.data.cells import MOST_VALUES, BadCells, Flags, Texts, as_numbers, matches
from dpol.data.settings import Cleaning
from dpol.show.words import LONGEST

Role: TypeAlias = Literal["count", "capacity", "cases"]

LARGEST = 999_999_999
"""A larger number is taken for a mistake."""
SMALLEST_CAPACITY = 1e-6
"""So is a smaller capacity above 0: the noise of a whole stream grows with 1 / capacity."""

_WANTED = f"a number from 0 to {LARGEST:,}"
_HIDDEN = re.compile(r"[<≤].*|[0-9]+ ?(-|\u2013|to) ?[0-9]+")


@dataclass(frozen=True)
class Numbers:
    """A column as numbers.

    Args:
        role: what the numbers are.
        values: NaN where the cell is missing, suppressed or negative.
        missing: where it holds a marker of a missing number.
        suppressed: where it holds a marker of a suppressed number.
        negative: where a number below 0 is taken as missing.
        bad: the cells that hold none of these.
    """

    role: Role
    values: Floats
    missing: Flags
    suppressed: Flags
    negative: Flags
    bad: BadCells | None


def parse_numbers(texts: Texts, role: Role, rules: Cleaning) -> Numbers:
    """The numbers of a column; nothing is refused here.

    Args:
        texts: its stripped cells, indexed by the row of the raw table; named as the column.
        role: what the numbers are.
        rules: markers, and what happens to negative numbers.
    """
    values = as_numbers(texts)
    suppressed = matches(texts, values, rules.suppressed_markers)
    missing = matches(texts, values, rules.missing_markers) & ~suppressed
    negative = np.isfinite(values) & (values < 0) & ~missing & ~suppressed
    negative &= _negative_rule(role, rules)[1] == "missing"
    least = SMALLEST_CAPACITY if role == "capacity" else 0.0
    known = (values == 0) | ((values >= least) & (values <= LARGEST))
    wrong = ~(missing | suppressed | negative | known)
    wanted = f"0 or a number from {least:f} to {LARGEST:,}" if least else _WANTED
    bad = BadCells(str(texts.name), wanted, texts[wrong]) if wrong.any() else None
    known &= ~missing & ~suppressed
    return Numbers(role, np.where(known, values, np.nan), missing, suppressed, negative, bad)


def _negative_rule(role: Role, rules: Cleaning) -> tuple[str, str]:
    """The key that says what happens to negative numbers, and its value."""
    if role == "capacity":
        return "negative_capacities", rules.negative_capacities
    return "negative_counts", rules.negative_counts


def remedies(columns: Sequence[Numbers], rules: Cleaning) -> list[str]:
    """What to do about the bad cells of columns, with the lines of the config to paste."""
    found: dict[str, list[str]] = {"unreadable": [], "negative": [], "missing": [], "hidden": []}
    for column in columns:
        texts = () if column.bad is None else column.bad.texts.unique()
        for text, value in zip(texts, as_numbers(pd.Series(texts, dtype=str)), strict=True):
            kind = _kind(text, value)
            key, _ = _negative_rule(column.role, rules)
            found[kind].append(key if kind == "negative" else text)
    advice, keys = [], dict.fromkeys(found["negative"], "missing")
    if found["unreadable"]:
        advice.append(
            "Write numbers like 1234.5 in the table: a decimal point, no thousands separator, no"
            " unit."
        )
    if keys:
        advice.append(
            f"Fix the negative numbers in the table, or take them as missing ({', '.join(keys)})."
            " One that stands for a hidden number belongs under suppressed_markers."
        )
    markers = {*found["missing"], *found["hidden"]}
    if len(markers) > MOST_VALUES:
        advice.append("So many different texts: do dataset.columns name the right columns?")
    elif markers:
        advice.append("Fix the texts in the table, or name them as markers of missing numbers"
                      " or of suppressed ones.")  # fmt: skip
        if found["missing"]:
            keys["missing_markers"] = _yaml([*rules.missing_markers, *found["missing"]])
        if found["hidden"]:
            keys["suppressed_markers"] = _yaml([*rules.suppressed_markers, *found["hidden"]])
    if keys:
        advice += ["In the config:", "dataset:", "  cleaning:"]
        advice += [f"    {key}: {value}" for key, value in keys.items()]
    return advice


def _kind(text: str, value: float) -> Literal["unreadable", "negative", "missing", "hidden"]:
    """What a bad cell may stand for; a long text, or one with a digit, is no marker."""
    if -np.inf < value < 0:
        return "negative"
    if not np.isnan(value) or len(text) > LONGEST or not text.isprintable():
        return "unreadable"
    if _HIDDEN.fullmatch(text):
        return "hidden"
    return "unreadable" if any(character.isdigit() for character in text) else "missing"


def _yaml(markers: Sequence[str]) -> str:
    """A list on one line of YAML; its texts are printable."""
    return json.dumps(list(dict.fromkeys(markers)), ensure_ascii=False)

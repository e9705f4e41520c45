"""Counts, capacities and cases of a raw table as numbers, with the markers of a config."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

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
    advice: list[str] = []
    keys: dict[str, str] = {}
    missing: dict[str, None] = {}
    hidden: dict[str, None] = {}
    unreadable = False
    for column in columns:
        if column.bad is None:
            continue
        texts = column.bad.texts.drop_duplicates()
        for text, value in zip(texts, as_numbers(texts), strict=True):
            if -np.inf < value < 0:
                key, _ = _negative_rule(column.role, rules)
                keys[key] = "missing"
            elif not np.isnan(value) or len(text) > LONGEST or not text.isprintable():
                unreadable = True
            elif _HIDDEN.fullmatch(text):
                hidden[text] = None
            elif any(character.isdigit() for character in text):
                unreadable = True
            else:
                missing[text] = None
    if unreadable:
        advice.append(
            "Write numbers like 1234.5 in the table: a decimal point, no thousands separator, no"
            " unit."
        )
    if keys:
        advice.append(
            f"Fix the negative numbers in the table, or take them as missing ({', '.join(keys)})."
            " One that stands for a hidden number belongs under suppressed_markers."
        )
    if len(missing) + len(hidden) > MOST_VALUES:
        advice.append("So many different texts: do dataset.columns name the right columns?")
    else:
        if missing or hidden:
            advice.append("Fix the texts in the table, or name them as markers of missing numbers"
                          " or of suppressed ones.")  # fmt: skip
        if missing:
            keys["missing_markers"] = _yaml([*rules.missing_markers, *missing])
        if hidden:
            keys["suppressed_markers"] = _yaml([*rules.suppressed_markers, *hidden])
    if keys:
        advice += ["In the config:", "dataset:", "  cleaning:"]
        advice += [f"    {key}: {value}" for key, value in keys.items()]
    return advice


def _yaml(markers: Sequence[str]) -> str:
    """A list on one line of YAML; its texts are printable."""
    return json.dumps(list(dict.fromkeys(markers)), ensure_ascii=False)

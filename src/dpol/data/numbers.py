"""Counts, capacities and cases of a raw table as numbers, with the markers of a config."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpol.core.randomness import Floats
from dpol.data.cells import MOST_VALUES, BadCells, Flags, Texts, as_numbers, matches
from dpol.data.settings import Cleaning
from dpol.show.words import LONGEST

LARGEST = 999_999_999
"""A larger number is taken for a mistake."""
SMALLEST_CAPACITY = 1e-6
"""So is a smaller capacity above 0: the noise of a whole stream grows with 1 / capacity."""

_HIDDEN = re.compile(r"[<≤].*|[0-9]+ ?(-|\u2013|to) ?[0-9]+")


@dataclass(frozen=True)
class Numbers:
    """A column as numbers.

    Args:
        values: NaN where the cell is missing, suppressed or negative.
        missing: where it holds a marker of a missing number.
        suppressed: where it holds a marker of a suppressed number.
        negative: where a number below 0 is taken as missing.
        bad: the cells that hold none of these.
        negative_key: of the cleaning rules; it says what happens to negative numbers.
    """

    values: Floats
    missing: Flags
    suppressed: Flags
    negative: Flags
    bad: BadCells
    negative_key: str


def parse_numbers(texts: Texts, rules: Cleaning, *, capacity: bool = False) -> Numbers:
    """The numbers of a column; nothing is refused here.

    Args:
        texts: its stripped cells, indexed by the row of the raw table; named as the column.
        rules: markers, and what happens to negative numbers.
        capacity: whether they are capacities, which are not tiny.
    """
    key = "negative_capacities" if capacity else "negative_counts"
    least = SMALLEST_CAPACITY if capacity else 0.0
    wanted = f"0 or a number from {least:f}" if capacity else "a number from 0"
    values = as_numbers(texts)
    suppressed = matches(texts, values, rules.suppressed_markers)
    missing = matches(texts, values, rules.missing_markers) & ~suppressed
    unmarked = ~missing & ~suppressed
    known = unmarked & ((values == 0) | ((values >= least) & (values <= LARGEST)))
    negative = unmarked & np.isfinite(values) & (values < 0) & (getattr(rules, key) == "missing")
    bad = BadCells(texts[unmarked & ~known & ~negative], f"{wanted} to {LARGEST:,}")
    return Numbers(np.where(known, values, np.nan), missing, suppressed, negative, bad, key)


def remedies(columns: Sequence[Numbers], rules: Cleaning) -> list[str]:
    """What to do about the bad cells of columns, with the lines of the config to paste."""
    found: dict[str, list[str]] = {}
    for column in columns:
        texts = column.bad.texts.unique()
        for text, value in zip(texts, as_numbers(pd.Series(texts, dtype=str)), strict=True):
            found.setdefault(_key(text, value, column.negative_key), []).append(text)
    negative = [key for key in found if key.startswith("negative")]
    markers = {key: found[key] for key in ("missing_markers", "suppressed_markers") if key in found}
    many = len({text for texts in markers.values() for text in texts}) > MOST_VALUES
    to_paste = dict.fromkeys(negative, "missing")
    for key, more in ({} if many else markers).items():
        named = dict.fromkeys([*getattr(rules, key), *more])
        to_paste[key] = json.dumps(list(named), ensure_ascii=False)  # YAML too: they are printable
    advice = (
        ("Write numbers like 1234.5 in the table: a decimal point, no thousands separator, no"
         " unit.", "" in found),
        (f"Fix the negative numbers in the table, or take them as missing ({', '.join(negative)})."
         " One that stands for a hidden number belongs under suppressed_markers.", negative),
        ("So many different texts: do dataset.columns name the right columns?", many),
        ("Fix the texts in the table, or name them as markers of missing numbers or of suppressed"
         " ones.", markers and not many),
        ("In the config:\ndataset:\n  cleaning:", to_paste),
    )  # fmt: skip
    return [words for words, applies in advice if applies] + [
        f"    {key}: {value}" for key, value in to_paste.items()
    ]


def _key(text: str, value: float, negative_key: str) -> str:
    """The cleaning rule that may take a bad cell, if any; a text with a digit is no marker."""
    if -np.inf < value < 0:
        return negative_key
    if not np.isnan(value) or len(text) > LONGEST or not text.isprintable():
        return ""
    if _HIDDEN.fullmatch(text):
        return "suppressed_markers"
    return "" if any(character.isdigit() for character in text) else "missing_markers"

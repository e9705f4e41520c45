"""Check the sentences of the pages that compare.

tools/comparisons.yaml has each of them, word for word: under `rows` with an expression in Python on
recorded rows, which must be true of all that the sentence speaks of, and otherwise under a ground
that says why no row decides it. Whoever changes such a sentence changes it there too.
"""

from __future__ import annotations

import re

import pandas as pd
import recorded_numbers
import sentences
from recorded_numbers import recorded
from sentences import COMPARISONS, MADE, SHAPES, WORDS, numbers, plain

PAGES = tuple(COMPARISONS)
SPLIT = r"(?<=[.?!])\)?\s+(?=[^a-z\s])|\n\s*\n|\n\s*(?:-|\d+\.) |\|"
AHEAD, BEHIND = {"above", "ahead at this reading"}, {"below", "behind at this reading"}
"""Verdicts on a difference whose interval does not contain 0."""
HOLDS = {"holds", "holds loosely"}
"""Verdicts on a statement that holds."""
HALF = {"gain_share": "gain_share_half_width", "share": "half"}
"""Columns with the half-width of a number's interval, where it is not `ci_half_width`."""


def some(every: pd.DataFrame, query: str) -> pd.DataFrame:
    """Return the rows of a query, of which there must be some: all of none have any property."""
    found = every.query(query)
    if found.empty:
        raise LookupError(f"no row with {query}")
    return found


def rows(run: str, name: str, query: str = "index == index") -> pd.DataFrame:
    """Return rows of a recorded table, of which there must be some."""
    return some(recorded(run, name), query)


def apart(one: pd.DataFrame, other: pd.DataFrame, on: list[str], of: str) -> pd.Series:
    """Return whether the intervals of some rows lie above those of others, by cell.

    Args:
        one: rows with the number; the lowest interval of a cell counts.
        other: likewise; the highest counts. Both must have the same cells.
        on: columns that name a cell.
        of: the column of the number.
    """
    half = HALF.get(of, "ci_half_width")
    lower = one.assign(end=one[of] - one[half]).groupby(on)["end"].min()
    upper = other.assign(end=other[of] + other[half]).groupby(on)["end"].max()
    if set(lower.index) != set(upper.index):
        raise LookupError(f"not in both: {set(lower.index) ^ set(upper.index)}")
    return lower > upper[lower.index]


def curves(query: str) -> pd.DataFrame:
    """Return the error at the centre of each kind of curve of Figure 1, and the half-width."""
    every = rows("central-texas", "amplification", "bound == 'borell-tis'")
    wide = every.pivot(index=["n", "mu"], columns="kind", values="false_negative")
    half = every.groupby(["n", "mu"])["false_negative_half_width"].max()
    return some(wide.assign(half=half), query)


def sentences_of(page: str) -> list[str]:
    """Return the sentences and cells of a page, without links, emphasis, code and made tables."""
    for pattern in (SHAPES["a block of code"], MADE):
        page = re.sub(pattern, "\n\n", page)
    every = re.split(SPLIT, plain(page))
    return [" ".join(each.split()).lstrip("#- ") for each in every if each.strip()]


def compares(sentence: str) -> bool:
    """Return whether a sentence has a comparing word and a subject of results, or two systems."""
    found = {
        kind: {it.lower() for it in re.findall(rf"(?<!\w)(?:{'|'.join(of)})", sentence, re.I)}
        for kind, of in WORDS.items()
    }
    return bool(found["comparing"] and found["subject"]) or len(found["system"]) > 1


def listed(name: str) -> dict[str, str]:
    """Return the listed sentences of a page, each with its expression, or empty text."""
    of = COMPARISONS[name]
    said = {each["says"]: each["holds"] for each in of.get("rows", [])}
    said |= {each: "" for ground in of if ground != "rows" for each in of[ground]}
    return {each.format_map(numbers()): holds for each, holds in said.items()}


def holds(expression: str) -> bool:
    """Return what an expression says of the recorded rows."""
    return bool(eval(expression, {**vars(recorded_numbers), **vars(sentences), **globals()}))


def faults(name: str, page: str) -> list[str]:
    """Return listed sentences that a page does not have, and its comparisons that are not listed.

    Args:
        name: path of the page in the repository.
        page: its text.
    """
    stand, known = sentences_of(page), listed(name)
    lacking = [each for each in known if each not in stand]
    return lacking + [each for each in stand if compares(each) and each not in known]

"""Texts in the cells of a CSV, which people open with a spreadsheet."""

from __future__ import annotations

import re

# Some spreadsheets divide cells at semicolons too, skip what is not seen, and read wide signs.
_FORMULA = re.compile(r"(^|;)(?=[\s\x00-\x1f]*[=+\-@＝＋－＠])")


def spreadsheet_text(text: str) -> str:
    """A text that a spreadsheet shows and does not compute, for a cell of a CSV.

    An apostrophe goes before each part that would be a formula: at the beginning and after a
    semicolon, where the first sign that is seen is =, +, -, @ or a wide one of these. Other texts
    stay as they are. A carriage return, which would begin a new row, becomes a space.

    >>> spreadsheet_text("=1+1"), spreadsheet_text("A; @B"), spreadsheet_text("New Mexico - 2")
    ("'=1+1", "A;' @B", 'New Mexico - 2')
    """
    return _FORMULA.sub(r"\1'", text.replace("\r", " "))

"""Texts made safe for the place that shows them: a terminal, Markdown or a spreadsheet."""

from __future__ import annotations

import re


def printable(text: str) -> str:
    """Replace control characters and line breaks of a text by question marks.

    >>> printable("a\\x1b[31m b")
    'a?[31m b'
    """
    return "".join(one if one.isprintable() else "?" for one in text)


def escape_markdown(text: str) -> str:
    r"""Escape a text so that Markdown shows it as it is, in table cells too.

    >>> print(escape_markdown("<b> a|b"))
    \<b\> a\|b
    """
    return re.sub(r"([\\`*_{}\[\]<>&|#~$^])", r"\\\1", text).replace("\n", " ")


# Some spreadsheets also split cells at semicolons, skip invisible characters, and read wide signs.
_FORMULA = re.compile(r"(^|;)(?=[\s\x00-\x1f]*[=+\-@＝＋－＠])")


def spreadsheet_text(text: str) -> str:
    """Change a text for a CSV cell so that a spreadsheet shows it instead of computing it.

    Each part that would be a formula gets a leading apostrophe: at the start or after a semicolon,
    if its first visible character is =, +, -, @ or a wide form of these. A carriage return, which
    would start a new row, becomes a space.

    >>> spreadsheet_text("=1+1"), spreadsheet_text("A; @B"), spreadsheet_text("New Mexico - 2")
    ("'=1+1", "A;' @B", 'New Mexico - 2')
    """
    return _FORMULA.sub(r"\1'", text.replace("\r", " "))

"""A section of the page as a value, which the template shows."""

from __future__ import annotations

from dataclasses import dataclass

from dpol.studies.study import FigureSpec


@dataclass(frozen=True, kw_only=True)
class Part:
    """A section of the page, with its contents.

    Args:
        key: its anchor.
        title: its heading.
        intro: its first paragraph.
        pictures: its figures, each with its image as base64 and its width in points.
        tables: its tables as HTML.
        folded: captions and tables that only those see who open them.
        facts: terms and texts, if it has any.
        code: a title and a text that is shown as it is.
        files: texts of links to its files, and where they lead.
        widget: HTML of its interactive figure, which a script of the page brings to life.
        still: title of its pictures where they are folded below that figure.
    """

    key: str
    title: str
    intro: str
    pictures: tuple[tuple[FigureSpec, str, float], ...] = ()
    tables: tuple[str, ...] = ()
    folded: tuple[tuple[str, str], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    code: tuple[str, str] | None = None
    files: tuple[tuple[str, str], ...] = ()
    widget: str = ""
    still: str = ""

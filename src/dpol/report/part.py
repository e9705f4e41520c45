"""Sections of the page, as values for the template."""

from __future__ import annotations

from dataclasses import dataclass

from dpol.studies.study import FigureSpec


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Figure on the page.

    Args:
        spec: its name, its texts and its place.
        number: its number.
        image: image as base64.
        width: its width, in points.
        finding: sentence on what it shows.
    """

    spec: FigureSpec
    number: int
    image: str
    width: float
    finding: str


@dataclass(frozen=True, kw_only=True)
class Part:
    """Section of the page.

    Args:
        key: anchor.
        title: heading.
        intro: first paragraph.
        first: captions of the tables above the figures, and the tables as HTML.
        pictures: figures, in the order of their numbers.
        tables: captions and HTML of the tables below them.
        folded: captions and HTML of tables that are folded.
        elsewhere: titles and addresses of tables that are only files.
        facts: terms and texts.
        code: title of a text, and the text to show verbatim.
        files: texts and addresses of links to its files.
        widget: HTML of its interactive figure, which a script of the page draws.
    """

    key: str
    title: str
    intro: str
    first: tuple[tuple[str, str], ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[tuple[str, str], ...] = ()
    folded: tuple[tuple[str, str], ...] = ()
    elsewhere: tuple[tuple[str, str], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    code: tuple[str, str] | None = None
    files: tuple[tuple[str, str], ...] = ()
    widget: str = ""

"""Sections of the page, as values for the template."""

from __future__ import annotations

from dataclasses import dataclass

from dpol.studies.study import FigureSpec


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Figure on the page.

    Args:
        spec: Its texts and its place.
        number: Its number.
        image: Image as base64; empty if it is only a file.
        width: Its width, in points.
        finding: Sentence on what it shows.
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
        key: Anchor.
        title: Heading.
        intro: First paragraph.
        first: Captions of the tables above the figures, and the tables as HTML.
        pictures: Figures, in the order of their numbers.
        tables: Captions and HTML of the tables below them.
        folded: Captions and HTML of tables that are folded.
        elsewhere: Titles and addresses of tables that are only files.
        facts: Terms and texts.
        code: Title of a text, and the text to show verbatim.
        files: Texts and addresses of links to its files.
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

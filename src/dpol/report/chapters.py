"""Chapters and sections of the page, as values for the template."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpol.studies.study import FigureSpec


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Figure on the page.

    Args:
        spec: its name, its texts and its place.
        image: image as base64.
        width: its width, in points.
        finding: sentence on what it shows.
    """

    spec: FigureSpec
    image: str
    width: float
    finding: str


@dataclass(frozen=True, kw_only=True)
class Part:
    """Section of a chapter.

    Args:
        key: anchor.
        title: heading.
        intro: first paragraph.
        first: captions of the tables above the figures, and the tables as HTML.
        pictures: figures, in their order.
        tables: captions and HTML of the tables below them.
        folded: captions and HTML of tables that are folded.
        facts: terms and texts.
        verbatim: titles of texts, and the texts.
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
    facts: tuple[tuple[str, str], ...] = ()
    verbatim: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    widget: str = ""


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """Chapter of the page: its anchor, its heading, and its sections."""

    key: str
    title: str
    parts: list[Part] = field(default_factory=list)

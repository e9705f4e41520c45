"""A section of the page as a value, which the template shows."""

from __future__ import annotations

from dataclasses import dataclass

from dpol.studies.study import FigureSpec


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure on the page.

    Args:
        spec: its words, and where it is.
        number: by which it is cited.
        wide: its image as base64; empty for one that is a file only.
        narrow: that for phones.
        width: of the wide one, in points.
        finding: what it shows, in a sentence.
    """

    spec: FigureSpec
    number: int
    wide: str
    narrow: str
    width: float
    finding: str


@dataclass(frozen=True, kw_only=True)
class Part:
    """A section of the page, with its contents.

    Args:
        key: its anchor.
        title: its heading.
        intro: its first paragraph.
        pictures: its figures, in the order of their numbers.
        tables: captions of its tables, and the tables as HTML.
        folded: those that only readers see who open them.
        elsewhere: titles of tables that are files only, and where they are.
        facts: terms and texts, if it has any.
        code: a title and a text that is shown as it is.
        files: texts of links to its files, and where they lead.
        widget: HTML of its interactive figure, which a script of the page brings to life.
    """

    key: str
    title: str
    intro: str
    pictures: tuple[Picture, ...] = ()
    tables: tuple[tuple[str, str], ...] = ()
    folded: tuple[tuple[str, str], ...] = ()
    elsewhere: tuple[tuple[str, str], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    code: tuple[str, str] | None = None
    files: tuple[tuple[str, str], ...] = ()
    widget: str = ""

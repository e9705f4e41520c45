"""Sections of the page, as values for the template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpol.studies.study import Exhibit

Links = Mapping[str, str]
"""Addresses by their texts; code that nobody can link has none."""
Shown = tuple[str, str, Links]
"""A table on the page: its title, its HTML, and links to its files and its code."""
Picture = tuple[Exhibit, tuple[str, float, str], str, Links]
"""A figure on the page: its words; its image, as `dpol.report.door.read_image` returns it; its
image for phones, empty if it has none; and links to its files and its code."""
Widget = tuple[Mapping[str, Any], Mapping[str, Any]]
"""An interactive figure: what its script reads, as plain values, and the `widget` of its section,
perhaps with another `title` and `intro`."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Section of a chapter.

    Args:
        key: anchor.
        title: heading.
        intro: first paragraph.
        first: the tables above the figures.
        pictures: figures, in their order.
        tables: the tables below them.
        folded: tables that are folded.
        facts: terms and texts.
        verbatim: titles of texts, and the texts.
        files: links to its files.
        widget: HTML of its interactive figure, which a script of the page draws.
    """

    key: str
    title: str
    intro: str
    first: Sequence[Shown] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Shown] = ()
    folded: Sequence[Shown] = ()
    facts: tuple[tuple[str, str], ...] = ()
    verbatim: tuple[tuple[str, str], ...] = ()
    files: Links = field(default_factory=dict)
    widget: str = ""

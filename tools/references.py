"""Write the block of docs/reference/references.md, and CITATION.cff, for tools/pages.py.

docs/references.yaml holds them. `outside` finds numbers of works that are not in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field

ROOT = Path(__file__).parents[1]
LIST = ROOT / "docs/references.yaml"
CITATION = ROOT / "CITATION.cff"
START = "references: # made by tools/references.py\n"
_ID = re.compile(
    r"arxiv\W*(?:org/)?(?:abs/|pdf/|html/)?(\d{4}\.\d{4,5})(?!\d)"  # a number named as arXiv's
    r"|(?<![\d.])((?:1[5-9]|2\d)(?:0[1-9]|1[0-2])\.\d{5})(?![\d.]*\d)"  # one that looks like it
    r"|(?<![\d.])(10\.\d{4,9}/[-.\w/]*\w)",
    re.IGNORECASE,
)
NAMED = "Works that dpol names and does not use"


class Search(BaseModel):
    """Our last search for new works."""

    model_config = ConfigDict(extra="forbid")
    date: date
    queries: list[str]


class Reference(BaseModel):
    """A work that dpol cites; see docs/references.yaml."""

    model_config = ConfigDict(extra="forbid", alias_generator=lambda name: name.replace("_", "-"))
    authors: list[str] = []
    title: str
    year: int | None = None
    place: str = ""
    arxiv: str | None = Field(None, pattern=r"^\d{4}\.\d{4,5}$")
    doi: str | None = None
    url: str | None = None
    also: str | None = None
    code: str | None = None
    commit: str | None = None
    licence: str | None = None
    licence_url: str | None = None
    used: str
    read: str = ""

    @property
    def is_used(self) -> bool:
        """Whether we use something of it, and do not only name it."""
        return not self.used.startswith("nothing")

    @property
    def by(self) -> str:
        """Its authors by family name, the first alone if there are more than two."""
        names = [name.rpartition(" ")[2] for name in self.authors] if self.year else self.authors
        return " and ".join(names) if len(names) < 3 else f"{names[0]} et al"

    @property
    def links(self) -> Iterator[str]:
        """Its numbers as links of a page."""
        if self.arxiv:
            yield f"[{self.arxiv}](https://arxiv.org/abs/{self.arxiv})"
        if self.doi:
            yield f"[{self.doi}](https://doi.org/{self.doi})"
        if address := self.url or (self.code if not self.year else None):
            yield f"[web]({address})"


class References(BaseModel):
    """The file: the last search, and the works by part and key."""

    model_config = ConfigDict(extra="forbid")
    searched: Search
    papers: dict[str, Reference]
    works: dict[str, Reference]
    data: dict[str, Reference]


@cache
def references() -> References:
    """Return the works and the last search."""
    return References.model_validate(yaml.safe_load(LIST.read_text(encoding="utf-8")))


def every() -> list[Reference]:
    """Return all works and tables."""
    of = references()
    return [*of.papers.values(), *of.works.values(), *of.data.values()]


def outside(text: str) -> set[str]:
    """Return the arXiv numbers and DOIs in a text that are not among the references.

    >>> sorted(outside("arXiv:2512.06971, 1912.12345 and https://doi.org/10.1000/x.1"))
    ['10.1000/x.1', '1912.12345']
    """
    known = {number for each in every() for number in (each.arxiv, each.doi)}
    return {next(filter(None, found)) for found in _ID.findall(text)} - known


def page() -> str:
    """docs/reference/references.md: the works and tables."""
    of = references()
    works = list(of.works.values())
    parts = {
        "The papers": list(of.papers.values()),
        "Other works": [each for each in works if each.is_used],
        NAMED: [each for each in works if not each.is_used],
        "Tables": list(of.data.values()),
    }
    return "\n".join(f"## {title}\n\n" + "".join(map(_line, each)) for title, each in parts.items())


def _line(each: Reference) -> str:
    year = "" if each.place.endswith(str(each.year)) else str(each.year or "")
    where = f"{each.place.removeprefix('arXiv')} {year}".strip()
    work = ". ".join(filter(None, [each.by, each.title, where]))
    read = f" ({each.read})" if each.read else ""
    used = each.used.removeprefix("nothing: ")
    return f"- {'. '.join([work, *each.links])}: {used}{read}\n"


def citation() -> str:
    """CITATION.cff: its references made new: the papers, what we use, and the tables."""
    text = CITATION.read_text(encoding="utf-8")
    of = references()
    used = [each for each in of.works.values() if each.is_used]
    made = [_cited(each) for each in (*of.papers.values(), *used) if each.authors]
    made += [_table(each) for each in of.data.values()]
    body = yaml.safe_dump(made, allow_unicode=True, sort_keys=False, width=1_000)
    head, _, _ = text.partition("references:")
    return head + START + "".join(f"  {line}\n" for line in body.splitlines())


def _cited(work: Reference) -> dict[str, Any]:
    names = [name.rpartition(" ") for name in work.authors]
    met = work.place.endswith(str(work.year))
    numbers = [f"arXiv:{work.arxiv}"] if work.arxiv else []
    numbers += [work.also] if work.also else []
    entry = {
        "type": "conference-paper" if met else "article",
        "title": work.title,
        "authors": [{"given-names": given, "family-names": family} for given, _, family in names],
        "conference" if met else "journal": {"name": work.place} if met else work.place,
        "year": work.year,
        "url": f"https://arxiv.org/abs/{work.arxiv}" if work.arxiv else work.url,
        "doi": work.doi,
        "identifiers": [{"type": "other", "value": number} for number in numbers],
        "repository-code": work.code,
    }
    return {key: value for key, value in entry.items() if value}


def _table(table: Reference) -> dict[str, Any]:
    entry = {
        "type": "data",
        "title": table.title,
        "authors": [{"name": name} for name in table.authors],
        "url": table.url,
        "repository": table.code,
        "commit": table.commit,
        "license": table.licence,
        "license-url": table.licence_url,
        "notes": table.used,
    }
    return {key: value for key, value in entry.items() if value}

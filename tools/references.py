"""Write docs/reference/references.md, and the references of CITATION.cff.

docs/references.yaml holds them. `outside` finds numbers of works that are not in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

ROOT = Path(__file__).parents[1]
LIST = ROOT / "docs/references.yaml"
PAGE = ROOT / "docs/reference/references.md"
CITATION = ROOT / "CITATION.cff"
START = "references: # made by tools/references.py\n"
_ID = re.compile(
    r"arxiv\W*(?:org/)?(?:abs/|pdf/|html/)?(\d{4}\.\d{4,5})(?!\d)"  # a number named as arXiv's
    r"|(?<![\d.])((?:1[5-9]|2\d)(?:0[1-9]|1[0-2])\.\d{5})(?![\d.]*\d)"  # one that looks like it
    r"|(?<![\d.])(10\.\d{4,9}/[-.\w/]*\w)",
    re.IGNORECASE,
)
PARTS = {"papers": "The papers", "works": "Other works", "data": "Tables"}
HEAD = (
    "# References\n\ndpol uses these works; `docs/references.yaml` also has those that it only"
    " names, and all authors. After the colon stands what we use of a work, and in brackets what we"
    " read of it, if we recorded it: the whole, its abstract, or only what others cite.\n\n"
    "<!-- works -->\n"
)


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


@cache
def references() -> dict[str, dict[str, Reference]]:
    """Return the references by part and key."""
    made = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    return TypeAdapter(dict[str, dict[str, Reference]]).validate_python(made)


def outside(text: str) -> set[str]:
    """Return the arXiv numbers and DOIs in a text that are not among the references.

    >>> sorted(outside("arXiv:2512.06971, 1912.12345 and https://doi.org/10.1000/x.1"))
    ['10.1000/x.1', '1912.12345']
    """
    every = [each for part in references().values() for each in part.values()]
    known = {number for each in every for number in (each.arxiv, each.doi)}
    return {next(filter(None, found)) for found in _ID.findall(text)} - known


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    for part, title in PARTS.items():
        lines = [f"## {title}", ""]
        for each in references()[part].values():
            if not each.is_used:
                continue
            year = "" if each.place.endswith(str(each.year)) else str(each.year or "")
            where = f"{each.place.removeprefix('arXiv')} {year}".strip()
            work = ". ".join(filter(None, [each.by, each.title, where]))
            read = f" ({each.read})" if each.read else ""
            lines.append(f"- {'. '.join([work, *each.links])}: {each.used}{read}")
        parts.append("\n".join(lines) + "\n")
    return "\n".join([*parts, "<!-- /works -->\n"])


def citation(text: str) -> str:
    """Return CITATION.cff with its references made new: the papers, what we use, and the tables."""
    of = references()
    used = [each for each in of["works"].values() if each.is_used]
    made = [_cited(each) for each in (*of["papers"].values(), *used) if each.authors]
    made += [_table(each) for each in of["data"].values()]
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


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    CITATION.write_text(citation(CITATION.read_text(encoding="utf-8")), encoding="utf-8")

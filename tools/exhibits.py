"""Write the block of docs/reference/exhibits.md, for tools/pages.py.

It lists every exhibit of the papers, where dpol computes it, and where it is seen.
tools/exhibits.yaml holds the exhibits; rows of the claims ledger name theirs by their places.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from pydantic import TypeAdapter

from dpol.core.yaml_files import read_yaml
from dpol.studies.ledger.claims.compute import PAPERS, statements
from dpol.studies.ledger.claims.core import Statement
from dpol.studies.registry import load_studies

_NUMBER = r"[A-Z]?\.?\d+(?:\.\d+)?"
NAMED = re.compile(
    r"(Theorem|Lemma|Corollary|Corollaries|Proposition|Definition|Remark|Claim|Figure|Table"
    r"|Algorithm|Assumption|Condition)s?"
    rf" ({_NUMBER}(?:(?:, | and | to ){_NUMBER})*)"
)


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """An exhibit of a paper; see exhibits.yaml.

    Args:
        name: its name in the paper.
        about: what it is, if its name does not say it.
        computed: `module` or `module:name` in dpol.
        seen: figures and tables of the page, as `figures/NAME` and `tables/NAME`.
        places: places of the ledger that belong to it without naming it.
        aside: what else a reader must know.
    """

    name: str
    about: str = ""
    computed: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    aside: str = ""


def exhibits() -> Mapping[str, list[Exhibit]]:
    """Return the exhibits of each paper, in its order."""
    listed = read_yaml(Path(__file__).with_name("exhibits.yaml"))
    return TypeAdapter(dict[str, list[Exhibit]]).validate_python(listed)


def named(place: str) -> list[str]:
    """Return the exhibits that a place names first, or the place itself if it names none.

    >>> named("Lemmas A.1 and 3.7, δ0 > 0"), named("section 3.1.2, Figure 1"), named("footnote 2")
    (['Lemma A.1', 'Lemma 3.7'], ['Figure 1'], ['footnote 2'])
    >>> named("Definitions 2.1 to 2.3")
    ['Definition 2.1', 'Definition 2.2', 'Definition 2.3']
    """
    found = NAMED.search(place)
    if not found:
        return [place]
    kind = found[1].replace("Corollaries", "Corollary")
    numbers = re.sub(r"(\d+) to (?:[A-Z\d]*\.)?(\d+)", _all_between, found[2])
    first, *others = re.split(", | and ", numbers)
    chapter = first.rpartition(".")[0] + "." if " to " in found[2] and "." in first else ""
    return [f"{kind} {number}" for number in (first, *(chapter + other for other in others))]


def _all_between(ends: re.Match[str]) -> str:
    return ", ".join(map(str, range(int(ends[1]), int(ends[2]) + 1)))


def shown() -> Set[str]:
    """Return all figures and tables, as `figures/NAME` or `tables/NAME`."""
    sections = [it for study in load_studies().values() for it in study.sections]
    figures = {f"figures/{it.name}" for section in sections for it in section.figures}
    return figures | {f"tables/{it.name}" for section in sections for it in section.tables}


def line_of(exhibit: Exhibit, theirs: Mapping[str, Statement]) -> str:
    """Return the line of an exhibit.

    Args:
        exhibit: the exhibit.
        theirs: the statements of its paper.

    Raises:
        ImportError: a module that computes it does not exist.
        AttributeError: a module lacks a name.
        ValueError: the page of a run has no such figure or table, or the ledger no such place.
    """
    known = shown() | {each.place for each in theirs.values()}
    if strange := {*exhibit.seen, *exhibit.places} - known:
        raise ValueError(f"{exhibit.name}: there is no {', '.join(sorted(strange))}")
    for target in exhibit.computed:
        module, _, name = target.partition(":")
        loaded = import_module(module)
        if name:
            getattr(loaded, name)
    said = [", ".join(f"`{it}`" for it in own) for own in (exhibit.computed, exhibit.seen)]
    places = {exhibit.name, *exhibit.places}
    rows = [f"`{row}`" for row, it in theirs.items() if places & {it.place, *named(it.place)}]
    if rows:
        said.append(f"ledger: {', '.join(rows)}")
    about = f" ({exhibit.about})" if exhibit.about else ""
    return f"- **{exhibit.name}{about}**: {'; '.join(filter(None, [*said, exhibit.aside]))}\n"


def page() -> str:
    """docs/reference/exhibits.md: exhibits of each paper, with their rows of the ledger.

    Raises:
        ImportError: a module that exhibits.yaml names does not exist.
        AttributeError: a module lacks a name.
        ValueError: a figure, a table or a place does not exist, or a row of the ledger has no
            exhibit.
    """
    parts = []
    for paper, listed in exhibits().items():
        theirs = {row: it for row, it in statements().items() if it.paper == PAPERS[paper]}
        known = {name for it in listed for name in (*named(it.name), *it.places)}
        for row, it in theirs.items():
            if it.place not in known and not known.issuperset(named(it.place)):
                raise ValueError(f"exhibits.yaml lacks the place of {row}, {it.place}")
        lines = "".join(line_of(each, theirs) for each in listed)
        parts.append(f"## {PAPERS[paper]}\n\n{lines}")
    return "\n".join(parts)

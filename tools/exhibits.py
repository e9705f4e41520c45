"""Write the block of docs/reference/exhibits.md, for tools/pages.py.

It lists every exhibit of the papers, where dpol computes it, and where it is seen.
tools/exhibits.yaml holds the exhibits; rows of the claims ledger name theirs by their places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache
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


@cache
def _listed() -> tuple[Mapping[str, list[str]], Mapping[str, list[Exhibit]]]:
    made = dict(read_yaml(Path(__file__).with_name("exhibits.yaml")))
    return made.pop("numbered"), TypeAdapter(dict[str, list[Exhibit]]).validate_python(made)


def exhibits() -> Mapping[str, list[Exhibit]]:
    """Return the exhibits of each paper, in its order."""
    return _listed()[1]


def numbered() -> Mapping[str, list[str]]:
    """Return what is numbered in each of the three papers, such as theorems and figures."""
    return _listed()[0]


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
    return {
        f"{kind}/{it.name}"
        for study in load_studies().values()
        for section in study.sections
        for kind, its in (("figures", section.figures), ("tables", section.tables))
        for it in its
    }


def resolved(target: str) -> str:
    """Return a `module:name` of dpol that exists.

    Raises:
        ImportError: there is no such module.
        AttributeError: the module has no such name.
    """
    module, _, name = target.partition(":")
    loaded = import_module(module)
    if name:
        getattr(loaded, name)
    return target


def rows_of(paper: str) -> Iterator[Exhibit]:
    """Yield the exhibits of a paper, then those that only the ledger names.

    Raises:
        ValueError: the page of a run has no such figure or table, or the ledger no such place.
    """
    listed = exhibits()[paper]
    known = {each.name for each in listed} | {place for each in listed for place in each.places}
    theirs = {row: each for row, each in statements().items() if each.paper == PAPERS[paper]}
    others = [
        name
        for each in theirs.values()
        if not each.ours
        for name in named(each.place)
        if name not in known
    ]
    for exhibit in (*listed, *(Exhibit(name=name) for name in dict.fromkeys(others))):
        checks = _checks(exhibit, theirs)
        known = shown() | {each.place for each in theirs.values()}
        if strange := {*exhibit.seen, *exhibit.places} - known:
            raise ValueError(f"{paper}, {exhibit.name}: there is no {', '.join(sorted(strange))}")
        places = []
        for kind in ("table", "figure"):
            start = f"{kind}s/"
            names = [f"`{it.removeprefix(start)}`" for it in exhibit.seen if it.startswith(start)]
            if names:
                places.append(f"{kind}{'s' if names[1:] else ''} {', '.join(names)}")
        if rows := [f"`{row}`{' †' if each.ours else ''}" for row, each in checks.items()]:
            places.append(f"ledger: {', '.join(rows)}")
        yield Exhibit(
            name=exhibit.name + (f" ({exhibit.about})" if exhibit.about else ""),
            computed=tuple(map(resolved, exhibit.computed)),
            seen=(*places, *([exhibit.aside] if exhibit.aside else [])),
        )


def _checks(exhibit: Exhibit, theirs: Mapping[str, Statement]) -> dict[str, Statement]:
    """Return the rows of the ledger about an exhibit."""
    places = {exhibit.name, *exhibit.places}
    return {row: each for row, each in theirs.items() if places & {each.place, *named(each.place)}}


def check_numbered(paper: str, rows: Iterable[Exhibit]) -> None:
    """Check that each numbered statement of a paper has its exhibit.

    Raises:
        ValueError: one has none.
    """
    wanted = {name for each in numbered()[paper] for name in named(each)}
    there = {name for row in rows for name in (row.name, *named(row.name))}
    strange = {it for it in wanted - there if not any(name.startswith(f"{it} (") for name in there)}
    if strange:
        raise ValueError(f"{paper}: there is no exhibit {', '.join(sorted(strange))}")


def page() -> str:
    """docs/reference/exhibits.md: the exhibits of each paper.

    Raises:
        ImportError: a module that exhibits.yaml names does not exist.
        AttributeError: a module lacks a name.
        ValueError: a figure, a table or a paper does not exist, or a statement has no exhibit.
    """
    parts = []
    for paper, title in PAPERS.items():
        lines = [f"## {title}", ""]
        rows = list(rows_of(paper))
        for row in rows:
            computed = [", ".join(f"`{target}`" for target in row.computed)] if row.computed else []
            lines.append(f"- **{row.name}**: {'; '.join([*computed, *row.seen])}")
        if paper in numbered():
            check_numbered(paper, rows)
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)

"""Which exhibit of the first paper a game belongs to, and whether a run plays its Table 2."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpol.experts.interface import Member
from dpol.experts.registry import make_members
from dpol.studies.games.in_paper import NOWHERE, InPaper
from dpol.studies.games.names import BEST_LINEAR, LINEAR, PAPER_NOISE, TABLE_2, TITLES


def papers_members() -> list[tuple[Member, str]]:
    """Return RW-Meta, both trees, and the linear models, each with its column of Table 2."""
    columns = {**{label: label for label in TITLES}, LINEAR: BEST_LINEAR}
    return [(member, column) for name, column in columns.items() for member in make_members(name)]


def places_in_paper(members: Iterable[Member], noise: str) -> list[InPaper]:
    """Return the place in the first paper of each algorithm with a noise.

    A variant of RW-Meta or of a tree has a column of its own beside those of Table 2.
    """
    known, places = papers_members() if noise == PAPER_NOISE else [], []
    for member in members:
        papers = (InPaper(TABLE_2, column) for it, column in known if it == member)
        beside = InPaper(TABLE_2, member.label, variant=True)
        places.append(next(papers, beside if known and member.family in TITLES else NOWHERE))
    return places


def plays_table_2(suites: Iterable[tuple[Sequence[Member], Sequence[str]]]) -> bool:
    """Return whether the suites, each with its noises, play all of the paper's Table 2.

    >>> plays_table_2([([*make_members("ridge"), *make_members("rw-meta")], ["isotropic"])])
    False
    """
    played = {
        member.label: member for made, noises in suites if PAPER_NOISE in noises for member in made
    }
    return all(played.get(member.label) == member for member, _ in papers_members())

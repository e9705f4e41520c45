"""Which exhibit of the first paper a game belongs to, and whether a run plays its Table 2."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpol.experts.interface import Member
from dpol.experts.registry import make_members
from dpol.studies.games.names import BEST_LINEAR, LINEAR, PAPER_NOISE, TABLE_2, TITLES, VARIANT


def papers_members() -> list[tuple[Member, str]]:
    """Return RW-Meta, both trees, and the linear models, each with its exhibit."""
    columns = {**dict.fromkeys(TITLES), LINEAR: BEST_LINEAR}
    return [
        (member, f"{TABLE_2}{column or name}")
        for name, column in columns.items()
        for member in make_members(name)
    ]


def exhibits_of(members: Iterable[Member], noise: str) -> list[str]:
    """Return the exhibit of each algorithm with a noise; empty if it belongs to none.

    A variant of RW-Meta or of a tree, under a label of its own, stands beside Table 2.
    """
    known = papers_members() if noise == PAPER_NOISE else []
    variants = TITLES if known else {}
    return [
        next((exhibit for it, exhibit in known if it == member), "")
        or f"{VARIANT}{member.label}" * (member.family in variants)
        for member in members
    ]


def plays_table_2(suites: Iterable[tuple[Sequence[Member], Sequence[str]]]) -> bool:
    """Return whether the suites, each with its noises, play all of the paper's Table 2.

    >>> plays_table_2([([*make_members("ridge"), *make_members("rw-meta")], ["isotropic"])])
    False
    """
    played = {
        member.label: member for made, noises in suites if PAPER_NOISE in noises for member in made
    }
    return all(played.get(member.label) == member for member, _ in papers_members())

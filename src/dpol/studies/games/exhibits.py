"""Which exhibit of the first paper a game belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpol.experts.interface import Member
from dpol.experts.registry import make_members
from dpol.studies.games.names import BEST_LINEAR, LINEAR, PAPER_NOISE, TABLE_2, TITLES


def papers_members() -> list[tuple[Member, str]]:
    """Return RW-Meta, both trees, and the linear models, each with its exhibit."""
    columns = {**dict.fromkeys(TITLES), LINEAR: BEST_LINEAR}
    return [
        (member, f"{TABLE_2}{column or name}")
        for name, column in columns.items()
        for member in make_members(name)
    ]


def exhibits_of(members: Iterable[Member], noise: str) -> list[str]:
    """Return the exhibit of each algorithm with a noise; empty if the paper did not play it."""
    known = papers_members() if noise == PAPER_NOISE else []
    return [next((exhibit for it, exhibit in known if it == member), "") for member in members]


def plays_all(suites: Iterable[tuple[Sequence[Member], Sequence[str]]]) -> bool:
    """Return whether suites, each with its noises, play all of the paper's algorithms."""
    played = [member for made, noises in suites if PAPER_NOISE in noises for member in made]
    return all(member in played for member, _ in papers_members())

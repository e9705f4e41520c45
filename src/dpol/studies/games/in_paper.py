"""Which column of the first paper's Table 2 shows a game, and what a run lacks of that table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dpol.core.words import listed
from dpol.experts.interface import Member
from dpol.experts.registry import make_members
from dpol.studies.games.names import BEST_LINEAR, LINEAR, PAPER_NOISE, PAPERS


def papers_members() -> list[tuple[Member, str]]:
    """Return RW-Meta, both trees, and the linear models, each with its column of Table 2."""
    columns = {**{label: label for label in PAPERS}, LINEAR: BEST_LINEAR}
    return [(member, column) for name, column in columns.items() for member in make_members(name)]


def columns_in_paper(members: Iterable[Member], noise: str) -> list[tuple[str, bool]]:
    """Return the column of Table 2 of each algorithm with a noise, and whether it is a variant.

    A variant of RW-Meta or of a tree has a column of its own beside the paper's; any other
    algorithm has none.
    """
    known, columns = papers_members() if noise == PAPER_NOISE else [], []
    for member in members:
        variant = bool(known) and member.family in PAPERS
        papers = ((column, False) for it, column in known if it == member)
        columns.append(next(papers, (member.label * variant, variant)))
    return columns


def lacks_of_table_2(suites: Iterable[tuple[Sequence[Member], Sequence[str]]]) -> str:
    """Say how the suites, each with its noises, differ from the paper's Table 2; empty if nowhere.

    >>> lacks_of_table_2([([*make_members("ridge"), *make_members("rw-meta")], ["isotropic"])])
    'tree-ftpl-min-noise and tree-ftpl-min-regret: no suite plays them'
    """
    played, reasons = [*suites], dict[str, list[str]]()
    for papers, _ in papers_members():
        own = [(it, noises) for made, noises in played for it in made if it.label == papers.label]
        here = [it for it, noises in own if PAPER_NOISE in noises]
        if papers in here:
            continue
        reason = f"not with {PAPER_NOISE} noise" if own else "no suite plays them"
        for member in here:
            ours, theirs = (_parameters(it) for it in (member, papers))
            names = [name for name, value in theirs.items() if ours.get(name) != value]
            same = names and member.family == papers.family
            other = f"other {listed(names)} than the paper’s" if same else "another algorithm"
            reason = f"{other}; a label of its own keeps both"
        reasons.setdefault(reason, []).append(papers.label)
    return "; ".join(f"{listed(labels)}: {reason}" for reason, labels in reasons.items())


def _parameters(member: Member) -> dict[str, Any]:
    """Return the parameters of an algorithm, or of the learners that it plays one of."""
    return vars(getattr(member.algorithm, "bank", member.algorithm))

"""Which exhibit of the first paper a game belongs to, and why a run has no Table 2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields

from dpol.core.words import listed
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


def why_no_table_2(suites: Iterable[tuple[Sequence[Member], Sequence[str]]]) -> str:
    """Say what the suites, each with its noises, lack for the paper's Table 2; empty for nothing.

    >>> why_no_table_2([([*make_members("ridge"), *make_members("rw-meta")], ["isotropic"])])
    'no suite plays tree-ftpl-min-noise and tree-ftpl-min-regret with isotropic noise'
    """
    played = {
        member.label: member for made, noises in suites if PAPER_NOISE in noises for member in made
    }
    papers = [member for member, _ in papers_members()]
    missing = [member.label for member in papers if member.label not in played]
    others = [member for member in papers if played.get(member.label, member) != member]
    reasons = [
        f"{it.label} differs from the paper’s in {listed(_changed(it, played[it.label]))}"
        for it in others
    ]
    if missing:
        reasons.append(f"no suite plays {listed(missing)} with {PAPER_NOISE} noise")
    return "; ".join(reasons)


def _changed(papers: Member, own: Member) -> Iterator[str]:
    """Yield the parameters in which an algorithm differs from the paper's."""
    if type(own.algorithm) is not type(papers.algorithm):
        yield "its algorithm"
        return
    for field in fields(papers.algorithm):  # type: ignore[arg-type]
        if getattr(own.algorithm, field.name) != getattr(papers.algorithm, field.name):
            yield field.name

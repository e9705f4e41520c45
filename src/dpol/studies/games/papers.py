"""The algorithms of the first paper's experiment, and whether a run plays them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpol.experts.interface import Member
from dpol.experts.registry import make_members
from dpol.studies.games.settings import PAPER_NOISE, Games
from dpol.studies.study import Facts

if TYPE_CHECKING:
    import pandas as pd

META, MIN_NOISE, MIN_REGRET = "rw-meta", "tree-ftpl-min-noise", "tree-ftpl-min-regret"
TITLES = {META: "RW-Meta", MIN_NOISE: "Min Noise", MIN_REGRET: "Min Regret"}
"""The paper's names for single algorithms, by label."""
LINEAR = "ridge"
"""The family of the paper's linear models."""


def papers_members() -> tuple[Member, ...]:
    """Return RW-Meta, both trees, and the linear models."""
    return tuple(member for name in (*TITLES, LINEAR) for member in make_members(name))


def papers_labels() -> frozenset[str]:
    """Return the labels of `papers_members`."""
    return frozenset(member.label for member in papers_members())


def is_papers(rows: pd.DataFrame) -> pd.Series:
    """Return a mask of the rows of the paper's algorithms with its noise."""
    return rows["algorithm"].isin(papers_labels()) & (rows["noise"] == PAPER_NOISE)


def plays_the_papers(settings: Games, facts: Facts) -> bool:
    """Return whether a run plays the paper's algorithms with its noise, under one question."""
    played = [
        member
        for suite in settings.suites.values()
        if PAPER_NOISE in suite.noises
        for spec in suite.algorithms
        for member in make_members(spec)
    ]
    return not facts.asks_several and all(member in played for member in papers_members())

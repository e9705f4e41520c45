"""The systems of a run by name, and those that its first figure draws as lines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pandas as pd

from dpol.core.words import counted, percent
from dpol.privacy.guarantee import NO_NOISE
from dpol.privacy.settings import headline_level, ordered_levels
from dpol.show.entries import (
    BLACK,
    DASHED,
    GREY,
    PAPER_1,
    Look,
    algorithm_entry,
    looks_of,
    marked,
    noise_entry,
)
from dpol.show.words import plus_minus
from dpol.studies.games.names import FTPL, META, PAPER_NOISE
from dpol.studies.league.standings import ENOUGH_RUNS, SYSTEM, is_system
from dpol.studies.study import Facts

BEST, CURATOR = "the best without a curator", "the best curator"
IN_HINDSIGHT = {
    BEST: "at each level the system that keeps most, picked in hindsight",
    CURATOR: "the same among all that a curator can play, who sees raw numbers",
}
"""Lines whose system is picked at each level, in hindsight, with their meaning."""
NOT_TOLD_APART = "not told apart from the best"
"""What is said of a system whose difference to the best has an interval that holds 0."""
SystemRow: TypeAlias = "Mapping[Any, Any] | pd.Series[Any]"
"""A row of the standings."""


@dataclass(frozen=True, kw_only=True)
class SystemLine:
    """A line of the first figure: its name, look and rows of the standings.

    Args:
        name: name of the line.
        look: look of the line.
        rows: rows for all streams and levels; of a line of `IN_HINDSIGHT`, of several systems.
        explained: the name, with what it stands for.
    """

    name: str
    look: Look
    rows: pd.DataFrame
    explained: str

    def among(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return its rows that are among those of a part of the standings."""
        return self.rows.loc[self.rows.index.isin(rows.index)]


def lines_of(standings: pd.DataFrame) -> list[SystemLine]:
    """Return the lines of RW-Meta, RW-FTPL, the best without a curator, and the best curator.

    RW-Meta and RW-FTPL have the paper's noise. An algorithm that the config names beside those of
    dpol takes the place of RW-FTPL. If no curator keeps more than the best without one, there is
    no line of curators.
    """
    rows = standings.dropna(subset="gain_share")
    second = _second_system(rows)
    looks = looks_of([META, second[0]])
    lines = [
        _line_of(PAPER_1[META], looks[META], rows[is_system(rows, (META, PAPER_NOISE))]),
        _line_of(algorithm_entry(second[0]).short, looks[second[0]], rows[is_system(rows, second)]),
        _line_of(BEST, Look(BLACK, width=2.0), rows[rows["best"]]),
    ]
    if (rows["best"] != rows["curator"]).any():
        lines.append(_line_of(CURATOR, Look(GREY, DASHED), rows[rows["curator"]]))
    return [line for line in lines if len(line.rows)]


def _second_system(rows: pd.DataFrame) -> tuple[str, str]:
    """Return RW-FTPL with the paper's noise, or what the config names beside dpol's systems.

    Of the latter, it is the system that keeps most at its strictest level.
    """
    named = rows[rows["variant"]]
    if named.empty:
        return FTPL, PAPER_NOISE
    strictest = named[named["mu"] == named["mu"].min()]
    shares = strictest.groupby(SYSTEM, sort=False)["gain_share"].mean()
    algorithm, noise = shares.index[shares.argmax()]
    return str(algorithm), str(noise)


def _line_of(name: str, look: Look, rows: pd.DataFrame) -> SystemLine:
    meaning = IN_HINDSIGHT.get(name, "")
    if not meaning and len(rows):
        meaning = name_system(rows.sort_values("mu").iloc[0])
    look = replace(look, marker="")
    return SystemLine(name=name, look=look, rows=rows, explained=f"{name}: {meaning}")


def name_system(row: SystemRow) -> str:
    """Name a system: its algorithm, its noise, and a dagger if one of them is not in the papers.

    Without noise, which no level of mu = inf needs, it is the name of the algorithm.

    >>> row = {"algorithm": "rw-meta", "noise": "capacity", "origin": "paper", "guaranteed_mu": 1.0}
    >>> name_system(row), name_system(row | {"guaranteed_mu": math.inf})
    ('rw-meta with capacity noise †', 'rw-meta')
    """
    algorithm, noise, beyond = row["algorithm"], row["noise"], row["origin"] != "paper"
    if noise == NO_NOISE or row["guaranteed_mu"] == math.inf:
        return marked(algorithm, beyond)
    return marked(f"{algorithm} with {noise} noise", beyond or noise_entry(noise).beyond)


def others_not_told_apart(at_level: pd.DataFrame, system: SystemRow) -> list[str]:
    """Return the names of the systems, without one, that are not told apart from the best.

    Without noise, an algorithm with several noises is one system.

    Args:
        at_level: rows of the standings of one level.
        system: the row of the system that is left out.
    """
    alike = at_level[at_level["not_told_apart"]].sort_values("gain_share", ascending=False)
    names = dict.fromkeys(name_system(row) for row in alike.to_dict("records"))
    return [name for name in names if name != name_system(system)]


def has_enough_runs(row: SystemRow) -> bool:
    """Return whether intervals of so many replicates hold as often as they say."""
    return bool(row["replicates"] >= ENOUGH_RUNS)


def apart_in_words(row: SystemRow) -> str:
    """Say which systems are not told apart from the best, or that the runs are too few to say."""
    if not has_enough_runs(row):
        runs = counted(row["replicates"], "run")
        return f"{runs} are too few to say which systems are {NOT_TOLD_APART} ({ENOUGH_RUNS} do)."
    return f"A system is {NOT_TOLD_APART} if the interval of their difference holds 0."


def groups_of(standings: pd.DataFrame, facts: Facts) -> dict[str, pd.DataFrame]:
    """Return the means of each question, or the rows of each stream if there are none, by title."""
    means = standings[standings["stream"] == ""]
    if len(means):
        return {
            title or f"mean over {len(facts.streams)} streams": own
            for question, title in (facts.questions or {"": ""}).items()
            if len(own := means[means["question"] == question])
        }
    titles = facts.streams.items()
    return {title: own for it, title in titles if len(own := standings[standings["stream"] == it])}


def share_text(share: float, half_width: float) -> str:
    """Write a share of the possible gain with its interval.

    >>> share_text(0.561, 0.011), share_text(0.69, 0.0)
    ('56.1% ± 1.1', '69.0%')
    """
    half = plus_minus(100 * half_width, 1) if 0 < half_width < math.inf else ""
    return percent(share, 1) + half


def sized_titles(titles: Mapping[str, str], rows: pd.DataFrame) -> dict[str, str]:
    """Return the titles of the streams by label, each with its number of experts."""
    sizes = rows.groupby("stream")["n_experts"].first()
    return {label: f"{titles[label]} (n = {sizes[label]})" for label in titles if label in sizes}


def first_group(standings: pd.DataFrame, facts: Facts) -> tuple[str, pd.DataFrame]:
    """Return the first group of the standings with its title."""
    title, rows = next(iter(groups_of(standings, facts).items()))
    return title, rows.dropna(subset="gain_share")


def first_level(facts: Facts) -> int:
    """Return the place of the middle level with noise among the ordered levels."""
    return ordered_levels(facts.levels).index(headline_level(facts.levels))

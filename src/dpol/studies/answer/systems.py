"""What the page compares: systems (an algorithm with its noise) from the standings, as lines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from dpol.core.words import percent
from dpol.privacy.guarantee import NO_NOISE
from dpol.privacy.settings import headline_level, ordered_levels
from dpol.show.entries import (
    DASHED,
    GREY,
    NOT_PAPERS,
    PAPER_1,
    SHORT,
    SOLID,
    Look,
    looks_of,
    marked,
    noise_entry,
)
from dpol.show.words import plus_minus
from dpol.studies.comparison.standings import (
    OUR_METHOD,
    SYSTEM,
    THE_BASELINE,
    THE_LEVEL,
    is_system,
)
from dpol.studies.games.names import META
from dpol.studies.study import Facts
from dpol.studies.verdicts import BEHIND, BELOW

BASELINE = f"{PAPER_1[META]}, the paper’s method"
STRONGEST, CURATOR = "the strongest rival", "the best curator"
CHOSEN = {
    STRONGEST: "the best of all others that see noisy numbers",
    CURATOR: "the best of all others",
}
"""Lines whose system is chosen at each level, once all gains are known, with their meaning."""
PLAYS_TOO = "a curator can play it too"
"""What is said of a local system that is the best of all."""
THIN = 0.7
"""Width of lines beside the systems compared."""
_THICK = 2.0
Row = Mapping[Any, Any]
"""A row of the standings."""


@dataclass(frozen=True, kw_only=True)
class SystemLine:
    """A line of the first figure: its name, look and rows of the standings that keep their level.

    Args:
        name: name of the line.
        look: look of the line.
        rows: rows for all streams and levels; of a line of `CHOSEN`, of several systems.
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
    """Return baseline, strongest rival, our method and the best curator, or all systems.

    Behind the four stand the algorithms beside the paper's in its Table 2, which the config names.
    The standings say which row is the strongest rival of a level, and which the best curator. A run
    that names no system shows every algorithm of its report with its best noise at the strictest
    level, the best algorithm first.
    """
    rows = standings.dropna(subset="gain_share")
    return _named(rows) if names_ours(rows) else _all(rows)


def names_ours(standings: pd.DataFrame) -> bool:
    """Return whether the run names our method, or the reader's, which its page is then about."""
    return bool((standings["role"] == OUR_METHOD).any())


def _named(rows: pd.DataFrame) -> list[SystemLine]:
    parts = {
        BASELINE: rows[rows["role"] == THE_BASELINE],
        STRONGEST: rows[rows["strongest"]],
        OUR_METHOD: rows[rows["role"] == OUR_METHOD],
        CURATOR: rows[rows["curator"]],
    }
    parts = {name: own for name, own in parts.items() if len(own)}
    lines = []
    strictest = {it: str(own.nsmallest(1, "mu")["algorithm"].iloc[0]) for it, own in parts.items()}
    ours = {*rows.loc[rows["role"] == OUR_METHOD, "algorithm"]}
    beside = [it for it in rows.loc[rows["variant"], "algorithm"].unique() if it not in ours]
    looks, before = looks_of([*strictest.values(), *beside]), set[str]()
    for name, own in parts.items():
        algorithm = strictest[name]
        dashes = DASHED if name == CURATOR or algorithm in before else SOLID
        before.add(algorithm)
        width = _THICK if name == OUR_METHOD else 1.0
        what = system_title(own["algorithm"].iloc[0], own["noise"].iloc[0])
        if name in CHOSEN:
            what = f"{CHOSEN[name]} at each level"
        if name == CURATOR and (own["model"] == "local").any():
            what += f"; {PLAYS_TOO}"
        look = replace(looks[algorithm], dashes=dashes, width=width)
        lines.append(SystemLine(name=name, look=look, rows=own, explained=f"{name}: {what}"))
    for label in beside:
        look = replace(looks[label], dashes=SHORT) if label in before else looks[label]
        line = _best(rows[rows["algorithm"] == label], look)
        name = f"{label}, {NOT_PAPERS}"
        lines.append(replace(line, name=name, explained=f"{name}: {line.name}"))
    return lines


def _all(rows: pd.DataFrame) -> list[SystemLine]:
    """Return a line per algorithm of the report; those of a curator and without privacy are last.

    Lines of curators are dashed, and those without privacy grey.
    """
    rows = rows[rows["shown_as"] != ""]
    looks, lines = looks_of(rows["shown_as"]), list[tuple[bool, float, SystemLine]]()
    strictest = rows["mu"].min()
    for label, own in rows.groupby("shown_as", sort=False):
        line = _best(own, looks[str(label)])
        model = line.rows["model"].iloc[0]
        private = model != "none" and line.rows["mu"].min() == strictest
        at = line.rows[line.rows["mu"] == strictest]
        means = at[at["stream"] == ""]  # over the streams, if there are any
        share = (means if len(means) else at)["gain_share"].mean()
        rank = float(share) if private else -math.inf
        lines.append((model == "local", rank, line))
    lines.sort(key=lambda ranked: ranked[:2], reverse=True)
    return [
        line if place else replace(line, look=replace(line.look, width=_THICK))
        for place, (_, _, line) in enumerate(lines)
    ]


def _best(rows: pd.DataFrame, look: Look) -> SystemLine:
    """Return the line of an algorithm or a family with what is best at its strictest level."""
    at = rows[rows["mu"] == rows["mu"].min()]
    best: Any = at.groupby(SYSTEM, sort=False)["gain_share"].mean().idxmax()
    name, model = system_title(*best), at["model"].iloc[0]
    if model == "none":
        name, look = f"{best[0]}, no privacy", replace(look, colour=GREY, dashes=SHORT)
    if model == "central":
        name, look = f"{name}, sees raw numbers", replace(look, dashes=DASHED)
    own = rows[is_system(rows, best)]
    return SystemLine(name=name, look=replace(look, width=THIN), rows=own, explained=name)


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


def named(row: Row) -> str:
    """Name a system in a sentence, by its algorithm and its noise."""
    return f"{row['algorithm']} with {row['noise']} noise"


def system_title(algorithm: str, noise: str) -> str:
    """Name an algorithm and its noise, with a mark if the noise is ours.

    >>> system_title("rw-meta", "capacity"), system_title("follow-the-leader", "none")
    ('rw-meta, capacity noise †', 'follow-the-leader')
    """
    if noise == NO_NOISE:
        return algorithm
    return f"{algorithm}, {marked(f'{noise} noise', noise_entry(noise).ours)}"


def sized_titles(titles: Mapping[str, str], rows: pd.DataFrame) -> dict[str, str]:
    """Return the titles of the streams by label, each with its number of experts."""
    sizes = rows.groupby("stream")["n_experts"].first()
    return {label: f"{titles[label]} (n = {sizes[label]})" for label in titles if label in sizes}


def first_level(standings: pd.DataFrame, facts: Facts) -> int:
    """Return the place of the level that the page tells of at first, among the ordered levels.

    It is the middle one of a run that names our method. In any other it is the strictest level with
    a rule above the best fixed choice, or else the strictest.
    """
    levels = ordered_levels(facts.levels)
    if names_ours(standings):
        return levels.index(headline_level(facts.levels))
    rules = chosen_rules(standings, facts)
    return levels.index(min(above_fixed(rules) or rules)) if rules else len(levels) - 1


def chosen_rules(standings: pd.DataFrame, facts: Facts) -> dict[float, Row]:
    """Return the row of the rule that the lead names at each level: ours, or the decision.

    The decision is the simplest local rule that is not below the strongest system, with the noise
    with which it keeps most.
    """
    rows = first_group(standings, facts)[1]
    if names_ours(standings):
        chosen = rows[rows["role"] == OUR_METHOD]
    else:
        level = rows[rows["guarantee"] == THE_LEVEL]
        local = level[~level["to_strongest_verdict"].str.startswith((BELOW, BEHIND))]
        order = ["simplicity", "algorithm", "gain_share"]
        ordered = local.sort_values(order, ascending=[True, True, False], kind="stable")
        chosen = ordered.drop_duplicates("mu")
    return {row["mu"]: row for row in chosen.to_dict("records")}


def why_first(standings: pd.DataFrame, facts: Facts) -> str:
    """Say why the page tells of that level at first."""
    if names_ours(standings):
        return "Shown: the middle one of the levels with noise."
    above = above_fixed(chosen_rules(standings, facts))
    down_to = " down to which a rule is above every fixed choice" * bool(above)
    return f"Shown: the strictest level{down_to}."


def first_group(standings: pd.DataFrame, facts: Facts) -> tuple[str, pd.DataFrame]:
    """Return the first group of the standings with its title."""
    title, rows = next(iter(groups_of(standings, facts).items()))
    return title, rows.dropna(subset="gain_share")


def above_fixed(rules: Mapping[float, Row]) -> list[float]:
    """Return the levels with noise down to which every rule is above the best fixed choice."""
    above = list[float]()
    for mu in sorted((mu for mu in rules if mu < math.inf), reverse=True):
        least = rules[mu]["gain_share"] - rules[mu]["gain_share_half_width"]
        if least <= rules[mu]["best_fixed_share"]:
            break
        above.append(mu)
    return above

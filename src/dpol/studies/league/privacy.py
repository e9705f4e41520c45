"""How private is it? Table of an attacker's guesses; its file also has ε and the noise."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence

import pandas as pd

from dpol.core.words import at_most, counted, listed
from dpol.privacy.account import best_guess
from dpol.privacy.guarantee import MU_OF_STAYS, times_of
from dpol.privacy.losses import Loss
from dpol.privacy.settings import ordered_levels
from dpol.privacy.stays import STAYS
from dpol.show.entries import noise_entry
from dpol.show.table import Table, TableCell, one_section
from dpol.show.words import each, mu_title
from dpol.studies.league.systems import SystemRow, lines_of
from dpol.studies.study import Facts, Frames

COLUMNS = ["system", "mu", "rounds", "right_guesses", "epsilon", "delta", "count_noise"]
"""Columns of the numbers: a row per system, level and length of a stay. `count_noise` is the
standard deviation of the noise on a count."""


def attacked(records: pd.DataFrame, period: str = "round") -> str:
    """Say how often an attacker is right about whom, at most: one percentage, and its condition.

    It is the largest of the bounds that hold: on exact counts, on the cleaned counts that play,
    and about somebody whom a missing count repeats.

    Args:
        records: rows of the summary, of one system at one level.
        period: what a round is called.
    """
    whom, mu = records["unit"].iloc[0].replace("round", period), records["guaranteed_mu"].max()
    if mu == math.inf:
        return f"Without noise an attacker may be right about {whom} every time."
    factor = records["taken_as_public"].map(times_of).max()
    bounds = {"": mu}
    if factor > 1:
        bounds[" on these cleaned counts"] = factor * mu
    if records["mu_carried"].notna().any():
        bounds[" where a missing count repeats an older one"] = factor * records["mu_carried"].max()
    condition = max(bounds, key=lambda condition: bounds[condition])
    guesses = at_most(100 * best_guess(bounds[condition]))
    return (
        f"An attacker who knows all else is right about {whom} at most {guesses}% of the"
        f" time{condition} (a coin: 50%)."
    )


def guesses_title(standings: pd.DataFrame) -> str:
    """Say what the right guesses at a level are about, and under which condition."""
    unit = standings["unit"].iloc[0]
    exact = " on exact counts" * ("person" in unit)
    return f"right guesses about {unit}{exact}, at most (a coin: 50%)"


def record_of(row: SystemRow, summary: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the summary that a row of the standings is made of."""
    key = ["algorithm", "noise", "mu"]
    own = summary if row["stream"] == "" else summary[summary["stream"] == row["stream"]]
    return own.loc[(own[key] == [row[name] for name in key]).all(axis=1)]


def privacy_table(frames: Frames, facts: Facts) -> Table:
    """Build the table: a line per system of the page's first table, a column per level.

    Correlated noises have lines too. Systems with equal numbers share one. Every number is the
    largest of all streams, rounded up.

    Args:
        frames: the summary and the standings.
        facts: the levels.
    """
    summary = frames["summary"]
    key = pd.MultiIndex.from_frame(summary[["algorithm", "noise", "mu"]])
    systems = {
        line.name: summary[key.isin([*zip(*(line.rows[it] for it in key.names), strict=True)])]
        for line in lines_of(frames["standings"])
    }
    for noise, rows in summary[summary["memory"] != ""].groupby("noise"):
        systems[noise_entry(str(noise)).long] = rows
    private = {
        name: rows[(rows["model"] != "none") & (rows["epsilon"] < math.inf)]
        for name, rows in systems.items()
    }
    numbers = pd.DataFrame(
        [row for name, rows in private.items() for row in _guesses_and_epsilon(name, rows)],
        columns=COLUMNS,
    )
    levels = [mu for mu in ordered_levels(facts.levels) if (numbers["mu"] == mu).any()]
    of_cells: dict[tuple[TableCell, ...], list[str]] = {}
    for name, own in numbers.groupby("system", sort=False):
        of_cells.setdefault(tuple(_cells(own, levels)), []).append(str(name))
    lines = [(listed(names), cells) for cells, names in of_cells.items()]
    return Table(
        caption=f"How often an attacker is right: {guesses_title(frames['standings'])}",
        corner=("system",),
        headers=tuple(map(mu_title, levels)) or ("",),
        sections=(one_section(lines or [("no noise was added", (TableCell("—"),))]),),
        footers=tuple(_footers(pd.concat(private.values()), facts)) if lines else (),
        numbers=numbers,
    )


def _guesses_and_epsilon(
    system: str, private: pd.DataFrame
) -> Iterator[tuple[str, float, int, float, float, float, float]]:
    """Yield rows with `COLUMNS`; without people who are counted, or without a mu, of one round."""
    for mu, own in private.groupby("mu", sort=False):
        level, rest = float(str(mu)), own[["epsilon", "delta", "count_noise"]].max()
        if (own["guaranteed_mu"] == math.inf).any():
            guesses = (Loss.of_data(json.loads(it)).guess for it in own["loss"])
            yield system, level, 1, max(guesses), *rest
        elif own[list(MU_OF_STAYS)].isna().any(axis=None):
            yield system, level, 1, best_guess(own["guaranteed_mu"].max()), *rest
        else:
            for rounds, column in zip(STAYS, MU_OF_STAYS, strict=True):
                yield system, level, rounds, best_guess(own[column].max()), *rest


def _cells(own: pd.DataFrame, levels: Sequence[float]) -> Iterator[TableCell]:
    """Yield the guesses of each level about somebody counted once, and about the longest stay."""
    for mu in levels:
        guesses = own[own["mu"] == mu].set_index("rounds")["right_guesses"]
        texts = {stay: f"{at_most(100 * share)}%" for stay, share in guesses.items()}
        if not texts:
            yield TableCell("—")
            continue
        (_, guessed), *longer = texts.items()
        notes = [f"{share} in {rounds} rounds" for rounds, share in longer[-1:]]
        yield TableCell(guessed, tuple(notes))


def _footers(private: pd.DataFrame, facts: Facts) -> Iterator[str]:
    public = "".join(
        f" Taken as public, and not covered by any μ: {text}."
        for text in private["taken_as_public"].unique()
        if text
    )
    replayed = " (also of the replay)" if facts.replayed else ""
    yield (
        f"Protected: {each(private['unit'])}. Adjacent inputs: {each(private['adjacency'])}."
        f"{public} The guarantee is of what a system would publish, not of this page: every gain,"
        f" share and figure here{replayed} is computed from the true numbers."
    )
    yield (
        "Telling adjacent inputs apart is at least as hard as telling N(0, 1) from N(μ, 1). The"
        " file privacy.csv also has ε, the noise on a count, and stays of other lengths;"
        " summary.parquet has each mechanism with its sensitivity."
    )
    carried = private[private["mu_carried"].notna()]
    if len(carried):
        factor = (carried["mu_carried"] / carried["mu"]).max()
        more = counted(int(carried["carried_weeks"].max()), "further round")
        yield (
            "The guarantee takes the counts as true. If missing counts repeat the last one, a"
            f" person is counted in up to {more}, which multiplies μ by {at_most(factor)} at"
            " most."
        )
    yield (
        "Noise: seeded, so that anyone can repeat the run. Anyone with the seed can remove the"
        " noise. The guarantee is the one that the mechanisms would give with secret noise."
    )

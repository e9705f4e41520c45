"""League of the algorithms of several runs: shares of the possible gain, and ranks."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.intervals import half_width, welch_half_width
from dpol.core.words import counted

_ROUNDING = 1e-9
"""Rounding error of a share, and relative rounding error of a total."""

_ON_UNMOVED = (
    "*: equal in all replicates although their noise differs; the algorithm ignores the noise, or"
    " has seen the gains without noise"
)

Unit = tuple[Any, int]
"""Seed and number of a replicate, which determine its random numbers."""
Sample = Mapping[Unit, float]


@dataclass(frozen=True, kw_only=True)
class Game:
    """Game on a stream.

    Args:
        checksum: Checksum of the gains and of everything that scales the noise.
        uniform: Expected total gain of an expert drawn uniformly in every round.
        oracle: Sum of the largest gains of all rounds.
    """

    checksum: str
    uniform: float
    oracle: float


@dataclass(frozen=True, kw_only=True)
class Player:
    """An algorithm with its noise, in one or several runs.

    Args:
        algorithm: Label of the algorithm.
        noise: Name of the noise.
        runs: Names of the runs.
        rules: Settings of the runs that tell players of the same name apart.
        totals: Total gain of each replicate, by stream and mu.
    """

    algorithm: str
    noise: str
    runs: tuple[str, ...]
    rules: Mapping[str, Any]
    totals: Mapping[tuple[str, float], Sample]


def league_of(
    players: Iterable[Player], games: Sequence[Mapping[str, Game]], confidence: float
) -> pd.DataFrame:
    """Rank players in a league: one row per mu and player, largest mu and best player first.

    A share is (total gain - uniform) / (oracle - uniform), mean over the streams on which all runs
    play the same game. Each replicate gives one such mean, and these are independent. Runs with
    other seeds add replicates (`joined`).

    A rank is 1 plus the number of players with a larger share. It lies between `rank_low`, 1 plus
    the number of surely better players, and `rank_high`, the number of players minus the number of
    surely worse ones. A player is surely better if the interval of the difference lies above 0:
    Student's for common replicates, Welch's if there are none. The intervals of all shares and
    differences hold jointly (Bonferroni), and so do the ranks. Source: Klein, Wright and
    Wieczorek, A joint confidence region for an overall ranking of populations (2020).

    Args:
        players: Players of all runs.
        games: Games of each run, by label of the stream.
        confidence: Joint confidence of all intervals.

    Returns:
        A table with `COLUMNS`; no rows if the runs share no game.
    """
    first, *others = games
    shared = {
        label: game
        for label, game in first.items()
        if game.oracle > game.uniform and all(run.get(label) == game for run in others)
    }
    entered = joined(
        dataclasses.replace(one, totals={k: own for k, own in one.totals.items() if k[0] in shared})
        for one in players
    )
    samples = [_samples(player, shared) for player in entered]
    mus = sorted({mu for sample in samples for mu in sample}, reverse=True)
    fields = {mu: [index for index, sample in enumerate(samples) if mu in sample] for mu in mus}
    comparisons = sum(math.comb(len(field) + 1, 2) for field in fields.values())
    rows: list[dict[str, Any]] = []
    for mu, field in fields.items():
        own = [samples[index][mu] for index in field]
        means = np.array([np.mean(list(sample.values())) for sample in own])
        better = np.array([[_is_better(a, b, confidence, comparisons) for b in own] for a in own])
        for place in np.argsort(-means, kind="stable"):
            player, values = entered[field[place]], np.array(list(own[place].values()))
            rows.append(
                {
                    "mu": mu,
                    "rank": 1 + int((means > means[place] + _ROUNDING).sum()),
                    "rank_low": 1 + int(better[:, place].sum()),
                    "rank_high": len(own) - int(better[place].sum()),
                    "algorithm": player.algorithm,
                    "noise": player.noise,
                    "runs": " ".join(player.runs),
                    "gain_share": means[place],
                    "gain_share_half_width": float(half_width(values, confidence, comparisons)),
                    "streams": len(shared),
                    "replicates": len(values),
                    "confidence": confidence,
                    "ci_comparisons": comparisons,
                }
            )
    return pd.DataFrame(rows, columns=COLUMNS)


COLUMNS = [
    *("mu", "rank", "rank_low", "rank_high", "algorithm", "noise", "runs"),
    *("gain_share", "gain_share_half_width", "streams", "replicates"),
    *("confidence", "ci_comparisons"),
]
"""Columns of a league."""


def joined(players: Iterable[Player]) -> list[Player]:
    """Join the players of all runs, each with the replicates of all its runs.

    Players with the same label and noise are one player if their totals agree on every common
    stream, mu and replicate. If they have none in common, their rules must be equal.
    """
    entered: list[Player] = []
    for new in players:
        for index, old in enumerate(entered):
            if (old.algorithm, old.noise) == (new.algorithm, new.noise) and _are_one(old, new):
                totals = {
                    cell: {**old.totals.get(cell, {}), **new.totals.get(cell, {})}
                    for cell in {**old.totals, **new.totals}
                }
                runs = (*old.runs, *new.runs)
                entered[index] = dataclasses.replace(old, runs=runs, totals=totals)
                break
        else:
            entered.append(new)
    return entered


def _are_one(old: Player, new: Player) -> bool:
    both = [
        (old.totals[cell][unit], new.totals[cell][unit])
        for cell in old.totals.keys() & new.totals.keys()
        for unit in old.totals[cell].keys() & new.totals[cell].keys()
    ]
    if both:
        return all(math.isclose(*pair, rel_tol=_ROUNDING) for pair in both)
    return old.rules == new.rules


def _samples(player: Player, games: Mapping[str, Game]) -> Mapping[float, Sample]:
    """Return the mean share over all games, by mu, for each replicate that played all games."""
    shares: dict[float, Sample] = {}
    for mu in dict.fromkeys(mu for _, mu in player.totals):
        own = [player.totals.get((label, mu), {}) for label in games]
        units = set.intersection(*map(set, own)) if own else set()
        if units:
            uniform = np.array([game.uniform for game in games.values()])
            possible = np.array([game.oracle for game in games.values()]) - uniform
            shares[mu] = {
                unit: float(np.mean((np.array([sums[unit] for sums in own]) - uniform) / possible))
                for unit in sorted(units)
            }
    return shares


def _is_better(one: Sample, two: Sample, confidence: float, comparisons: int) -> bool:
    """Return True if the whole interval of the difference of two means lies above 0."""
    if shared := one.keys() & two.keys():
        gaps = np.array([one[unit] - two[unit] for unit in sorted(shared)])
        gap, half = gaps.mean(), float(half_width(gaps, confidence, comparisons))
    else:
        values = [np.array(list(sample.values())) for sample in (one, two)]
        gap = values[0].mean() - values[1].mean()
        half = math.inf
        if min(map(len, values)) > 1:
            deviations = [float(totals.std(ddof=1)) for totals in values]
            half = welch_half_width(deviations, [*map(len, values)], confidence, comparisons)
    return bool(gap > half + _ROUNDING)


def lines_of(league: pd.DataFrame) -> list[str]:
    """Write a league as text: a row per player, a column per mu, ordered by mean share."""
    if league.empty:
        return ["no league: the runs share no stream with equal gains, or lack totals.parquet"]
    streams, replicates = (int(league[name].max()) for name in ("streams", "replicates"))
    keys, several = ["algorithm", "noise"], league.groupby(["algorithm", "noise"])["runs"]
    if (several.nunique() > 1).any():
        keys.append("runs")
    equal = league["gain_share_half_width"] <= _ROUNDING
    equal &= (league["replicates"] > 1) & (league["mu"] < math.inf) & (league["noise"] != "none")
    unmoved = league.index[equal]
    said = league.assign(
        text=[
            f"{row.gain_share:.1%} ±{row.gain_share_half_width:.1%} ({_ranks(row)})"
            + ("*" if row.Index in unmoved else "")
            for row in league.itertuples()
        ],
        mu=[f"μ = {'∞' if math.isinf(mu) else format(mu, 'g')}" for mu in league["mu"]],
    )
    table = said.pivot(index=keys, columns="mu", values="text")[said["mu"].unique()].fillna("")
    order = league.groupby(keys)["gain_share"].mean().sort_values(ascending=False).index
    table = table.loc[order].reset_index().rename_axis(columns=None)
    return [
        f"share of the possible gain and ranks: {counted(streams, 'stream')} that all runs share,"
        f" {counted(replicates, 'replicate')} at most",
        *table.to_string(index=False).splitlines(),
        *([_ON_UNMOVED] if len(unmoved) else []),
    ]


def _ranks(row: Any) -> str:
    low, high = int(row.rank_low), int(row.rank_high)
    return f"{low}" if low == high else f"{low}-{high}"

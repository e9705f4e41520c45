"""What a point keeps of its games: totals by replicate, curves by round, perhaps every round.

The curves are the mean cumulative gain and its squared deviations. Their size does not grow with
the replicates, and collecting needs no rounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dpol.core.columns import column
from dpol.core.randomness import Floats
from dpol.experts.interface import Actions
from dpol.privacy.guarantee import Guarantee, Origin
from dpol.studies.games.names import CELL, TABLE_2


@dataclass(frozen=True, kw_only=True)
class Played:
    """Runs of one algorithm on one stream, with one noise at one privacy level.

    Args:
        stream: label of the stream.
        noise: name of the noise.
        mu: requested privacy level.
        label: name of the algorithm in tables and figures.
        family: registered name of the algorithm.
        origin: `paper`, `standard`, `dpol` or `other`.
        guarantee: privacy of the actions.
        replicates: numbers of the R replicates.
        actions: (R, T) experts, counted from 0.
        gains: (R, T) raw gains of the actions.
        best: (T,) largest raw gain of each round.
        column: their column of the first paper's Table 2, where a variant has its label; empty for
            none.
        variant: whether they are a variant of the paper's, in a column beside its own.
        count_noise: median standard deviation of independent local noise on a count; not a number
            where there is none.
    """

    stream: str
    noise: str
    mu: float
    label: str
    family: str
    origin: Origin
    guarantee: Guarantee
    replicates: Sequence[int]
    actions: Actions
    gains: Floats
    best: Floats
    column: str = ""
    variant: bool = False
    count_noise: float = math.nan

    @property
    def totals(self) -> Floats:
        """(R,) total gains."""
        return np.asarray(self.gains.sum(axis=1))

    @property
    def facts(self) -> dict[str, Any]:
        """What one game tells of its system: the columns of `curves` before the gains."""
        return {
            "stream": self.stream,
            "algorithm": self.label,
            "family": self.family,
            "origin": self.origin,
            "exhibit": TABLE_2 if self.column else "",
            "column": self.column,
            "variant": self.variant,
            "noise": self.noise,
            "mu": self.mu,
            "sees": "noisy" if self.guarantee.model == "local" else "raw",
            **self.guarantee.as_row(),
            "count_noise": self.count_noise,
        }


# ---- tables --------------------------------------------------------------------------------------


def score_tables(games: Sequence[Played], suite: str = "") -> dict[str, pa.Table]:
    """Tabulate the scores of games (docs/reference/tables.md).

    Args:
        games: runs of some algorithms.
        suite: label of their suite.

    Returns:
        `scores`, one row per algorithm and replicate, and `curves`, one row per algorithm.
    """
    curves = [{"suite": suite, **it.facts, **_curves(it)} for it in games]
    runs = [row for row in curves for _ in range(row["replicates"])]
    hits = [(it.gains == it.best).sum(axis=1, dtype=np.int32) for it in games]
    replicates = [np.asarray(it.replicates, dtype=np.int32) for it in games]
    return {
        "scores": pa.table(
            {
                **{name: column([row[name] for row in runs]) for name in CELL},
                "replicate": column(np.concatenate(replicates)),
                "total_gain": column(np.concatenate([it.totals for it in games])),
                "hits": column(np.concatenate(hits)),
            }
        ),
        "curves": pa.table({name: column([row[name] for row in curves]) for name in curves[0]}),
    }


def _curves(played: Played) -> dict[str, Any]:
    """Return the columns of `curves` about the gains of runs."""
    running = played.gains.cumsum(axis=1)
    # The mean of equal numbers may have a rounding error; their deviations must be exactly 0.
    same = (running == running[0]).all(axis=0)
    mean = np.where(same, running[0], running.mean(axis=0))
    return {
        "replicates": len(running),
        "mean_cumulative_gain": mean,
        "squared_deviations": np.where(same, 0.0, ((running - mean) ** 2).sum(axis=0)),
        "first_actions": np.asarray(played.actions[0], dtype=np.int32),
    }


def rounds_of(games: Sequence[Played]) -> pa.Table:
    """Tabulate every round of the games of a suite: one row per algorithm, replicate and round.

    Columns: docs/reference/tables.md.
    """
    replicates, n_rounds = games[0].actions.shape
    size, count = replicates * n_rounds, len(games)

    of_runs = column(np.repeat(np.arange(count), size))
    labels = {
        name: column([played.facts[name] for played in games]).dictionary_encode()
        for name in ("stream", "algorithm", "noise")
    }
    replicate = np.repeat(np.asarray(games[0].replicates, dtype=np.int32), n_rounds)
    round_numbers = np.arange(1, n_rounds + 1, dtype=np.int32)
    return pa.table(
        {
            **{name: values.take(of_runs) for name, values in labels.items()},
            "mu": column(np.repeat([played.mu for played in games], size)),
            "replicate": column(np.tile(replicate, count)),
            "round": column(np.tile(round_numbers, count * replicates)),
            "action": column(np.concatenate([runs.actions.ravel() for runs in games])),
            "gain": column(np.concatenate([runs.gains.ravel() for runs in games])),
        }
    )

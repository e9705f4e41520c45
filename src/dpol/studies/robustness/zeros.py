"""What our comparison would be if zeros of a table hide counts.

verify/hidden.py measures how many do: 30% where one table tells, 56% where another does. In a
hidden quarter of a hospital all zeros are one of the measured hidden averages, with a spread over
the weeks. The hospitals that play, and the noise of a run, are the same in all draws.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.intervals import half_width
from dpol.core.randomness import Floats, seed_sequence
from dpol.core.shipped import place_of
from dpol.data.stream import ZERO_OR_HIDDEN, GainStream, build_stream
from dpol.noise import find_noise
from dpol.noise.noisy_gains import NoisyGains, privatize
from dpol.studies.comparison.standings import (
    OUR_METHOD,
    THE_BASELINE,
    is_system,
    strongest,
)
from dpol.studies.games.names import META, PAPER_NOISE
from dpol.studies.robustness.settings import RobustnessPoint, Zeros
from dpol.studies.robustness.systems import gained_by, local_systems, panel_of
from dpol.studies.study import Inputs
from dpol.studies.verdicts import UNDECIDED, verdict_on

SPREAD = 1 / 3
"""Standard deviation of the log of a hidden average over the weeks of a quarter."""
NEAR = 0.05
"""Without noise, a system that is further below the strongest in all states is not played again."""
MARK = -999999
"""What HHS writes for a suppressed number."""
ENDS = ("", "_least", "_most")


def hidden_averages(file: Path | str, average: str) -> Floats:
    """Return the hidden averages of a table in which sums and days are published.

    A hidden sum, of 1 to 3, is read as 2.

    Args:
        file: path of the table.
        average: its column of averages, which ends in `_avg`.
    """
    names = [average, *(average.removesuffix("avg") + name for name in ("sum", "coverage"))]
    rows = pd.read_parquet(file, columns=names).set_axis(["average", "sum", "days"], axis=1)
    rows = rows[(rows["average"] == MARK) & (rows["days"] > 0)]
    return np.asarray(rows["sum"].where(rows["sum"] != MARK, 2) / rows["days"])


def with_hidden(rows: pd.DataFrame, known: Floats, hidden: float, draw: int) -> pd.DataFrame:
    """Return rows of a state's panel in which a share of the quarters hide their zeros.

    Args:
        rows: rows of one stream of a panel.
        known: hidden averages that were measured.
        hidden: probability that a quarter of a hospital hides its zeros.
        draw: number of the draw.
    """
    state = str(rows["stream"].iloc[0])
    rng = np.random.default_rng(seed_sequence(1, ("zeros", state, hidden, draw)))
    quarter = rows.groupby(["entity", rows["period"].dt.to_period("Q")]).ngroup().to_numpy()
    hides = rng.random(quarter.max() + 1) < hidden
    value = rng.choice(known, quarter.max() + 1)
    counts = value[quarter] * np.exp(SPREAD * rng.standard_normal(len(rows)))
    counts = counts.clip(known.min(), known.max())
    at = (
        (rows["count"] == 0)
        & rows["count_source"].isin(["reported", ZERO_OR_HIDDEN])
        & hides[quarter]
    )
    share = np.minimum(counts / rows["capacity"], 1)
    return rows.assign(
        count=rows["count"].mask(at, counts), density=rows["density"].mask(at, share)
    )


def shares_of(
    streams: Sequence[GainStream],
    systems: pd.DataFrame,
    plays: NDArray[np.bool_],
    block: Zeros,
) -> Floats:
    """Return shares of the possible gain, (systems, draws, replicates); nan where none is played.

    Args:
        streams: the stream of a state in each draw.
        systems: the systems of a level.
        plays: which of them play.
        block: the root seed, and the number of repetitions in a draw.
    """
    replicates = block.replicates
    shares = np.full((len(systems), len(streams), replicates), np.nan)
    if not streams:
        return shares
    every = np.repeat([stream.gains for stream in streams], replicates, axis=0)
    empty = dataclasses.replace(streams[0], gains=np.zeros_like(streams[0].gains))
    games: dict[str, NoisyGains] = {}
    for noise, mu in systems.loc[plays, ["noise", "mu"]].drop_duplicates().itertuples(index=False):
        noisy = privatize(empty, noise, mu, seed=block.seed, replicates=replicates)
        assert noisy.seeds is not None
        again = noisy.seeds.replicates * len(streams)
        games[noise] = dataclasses.replace(
            noisy,
            initial=np.tile(noisy.initial, (len(streams), 1)),
            gains=np.tile(noisy.gains, (len(streams), 1, 1)) + every,
            seeds=dataclasses.replace(noisy.seeds, replicates=again),
        )
    gained, possible = gained_by(systems[plays], games, every)
    shares[plays] = (gained / possible).reshape(-1, len(streams), replicates)
    return shares


def in_reach(
    systems: pd.DataFrame, shares: Floats, confidence: float, comparisons: int
) -> NDArray[np.bool_]:
    """Return which systems may be the strongest rival in another draw: none is left out unheard.

    They are those whose paired interval contains the strongest of this draw, or without noise those
    at most `NEAR` below it, our method, and the baseline.

    Args:
        systems: the systems of the level.
        shares: shares of the possible gain, (systems, replicates), in one draw.
        confidence: joint confidence of the intervals.
        comparisons: number of intervals that hold together.
    """
    best = strongest(systems.assign(gain_share=shares.mean(axis=1))).argmax()
    gap = shares[best] - shares
    reach = np.where(np.isinf(systems["mu"]), NEAR, half_width(gap.T, confidence, comparisons))
    return np.asarray((gap.mean(axis=1) <= reach) | (systems["role"] != ""))


def summed_up(
    systems: pd.DataFrame, shares: Floats, confidence: float, comparisons: int
) -> dict[str, Any]:
    """Return what the draws of a stream, or of the mean over streams, say of a level.

    Args:
        systems: the systems of the level.
        shares: shares of the possible gain, (systems, draws, replicates), nan where not played.
        confidence: joint confidence of the intervals.
        comparisons: number of intervals that hold together.
    """
    means = shares.mean(axis=2)
    draws = range(means.shape[1])
    ours, paper = ((systems["role"] == role).argmax() for role in (OUR_METHOD, THE_BASELINE))
    rivals = [int(strongest(systems.assign(gain_share=means[:, draw])).argmax()) for draw in draws]
    apart = np.stack([shares[ours, draw] - shares[rivals[draw], draw] for draw in draws])
    lead, half = apart.mean(axis=1), half_width(apart.T, confidence, comparisons)
    verdicts = {*map(verdict_on, lead, half)}
    most = systems.iloc[max(rivals, key=rivals.count)]
    values = {"ours": means[ours], "rival_share": means[rivals, draws]}
    values |= {"baseline": means[paper], "lead": lead}
    return {
        "draws": len(draws),
        "rival": most["algorithm"],
        "rival_noise": most["noise"],
        **{
            f"{name}{end}": float(value)
            for name, each in values.items()
            for end, value in zip(ENDS, (each.mean(), each.min(), each.max()), strict=True)
        },
        "lead_half_width": float(half.max()),
        "verdict": verdicts.pop() if len(verdicts) == 1 else UNDECIDED,
    }


def play_zeros(block: Zeros, point: RobustnessPoint, inputs: Inputs) -> pd.DataFrame:
    """Play a question at a level; a row for each share of hidden zeros and state, and their mean.

    The first draw of each share is played by all systems, the others by those in reach in it.
    """
    table = block.tables[point.of]
    assert table.dataset.columns is not None
    known = hidden_averages(place_of(block.told_by), str(table.dataset.columns.count))
    states = panel_of(table).groupby("stream", sort=False)
    rows_of = {str(label): rows for label, rows in states}
    streams = {
        (label, hidden): [
            build_stream(
                with_hidden(rows_of[label], known, hidden, draw),
                label,
                1.0,
                {},
                gain=table.gains[point.question],
                named=f"{label}-{point.question}" if point.question else label,
            )
            for draw in range(block.draws if hidden else 1)
        ]
        for label, hidden in product(rows_of, block.hidden)
    }
    at = local_systems(point.settings, next(iter(streams.values()))[0], point.mu)
    # All draws share their noise, so it must not depend on the counts.
    at = at[[find_noise(noise).mechanism is None for noise in at["noise"]]]
    paper = is_system(at, (META, PAPER_NOISE)) & (at["role"] != OUR_METHOD)
    at = at.assign(role=at["role"].mask(paper, THE_BASELINE))
    together = (len(at) - 1) * len(block.mus) * len(table.gains)
    many = together * len(rows_of)

    def near(first: Iterable[Floats], comparisons: int) -> NDArray[np.bool_]:
        reach = (in_reach(at, it[:, 0], point.confidence, comparisons) for it in first)
        return np.asarray(np.any([*reach], axis=0))

    everyone = np.ones(len(at), bool)
    first = {place: shares_of(own[:1], at, everyone, block) for place, own in streams.items()}
    means = (np.mean([first[it, hidden] for it in rows_of], axis=0) for hidden in block.hidden)
    in_mean = near(means, together)
    again = {it: in_mean | near((first[it, hidden] for hidden in block.hidden), many)
             for it in rows_of}  # fmt: skip
    rows = []
    for hidden in block.hidden:
        shares = {
            it: np.hstack(
                [first[it, hidden], shares_of(streams[it, hidden][1:], at, again[it], block)]
            )
            for it in rows_of
        }
        key = {"run": point.of, "question": point.question, "hidden": hidden, "mu": point.mu}
        mean = summed_up(at, np.mean([*shares.values()], axis=0), point.confidence, together)
        rows.append({**key, "stream": "", **mean})
        for label, own in shares.items():
            rows.append({**key, "stream": label, **summed_up(at, own, point.confidence, many)})
    return pd.DataFrame(rows)

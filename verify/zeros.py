"""Record what our comparison on the states would be if zeros of their tables hide counts.

    python verify/zeros.py              (20 minutes on one core)
    python verify/zeros.py NM VA        (these states alone, and nothing is recorded)

verify/hidden.py measures how many zeros hide counts: 30% where one table tells, 56% where another
does. Plays the local systems of config/states.yaml and config/held-out.yaml with the zeros as they
are, and with such a share of the quarters of a hospital hidden. In a hidden quarter all zeros are
one of the measured hidden averages, with a spread over the weeks. The hospitals that play, and the
noise of a run, are the same in all draws. Writes verify/runs/zeros.csv.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hidden import hidden_averages
from made_with import asked, note, read_config, systems_of
from numpy.typing import NDArray

import dpol
from dpol.config.experiment import load_experiment
from dpol.core.intervals import half_width
from dpol.core.randomness import Floats, seed_sequence
from dpol.data.cleaning import clean_table
from dpol.data.stream import ZERO_OR_HIDDEN, GainStream, build_stream
from dpol.experts.interface import Member
from dpol.studies.comparison.names import OUR_METHOD, THE_BASELINE, THE_LEVEL
from dpol.studies.comparison.standings import is_system, promised, strongest
from dpol.studies.games.levels import is_weaker
from dpol.studies.games.names import META
from dpol.studies.verdicts import UNDECIDED, verdict_on

RUNS = ("states", "held-out")
HIDDEN, DRAWS, REPLICATES = (0.0, 0.3, 0.56), 10, 20
"""Shares of the quarters of a hospital that hide their zeros, draws of each, and runs."""
SPREAD = 1 / 3
"""Standard deviation of the log of a hidden average over the weeks of a quarter."""
CONFIDENCE = 0.95
"""Of all intervals of the means, or of those of the states, in one draw. A verdict needs all draws,
so no correction is due for their number."""
NEAR = 0.05
"""Without noise, a system that is further below the strongest in all states is not played again."""
OUT = Path(__file__).parent / "runs" / "zeros.csv"
ENDS = ("", "_least", "_most")
COLUMNS = [
    *("run", "question", "stream", "hidden", "draws", "mu", "rival", "rival_noise"),
    *(name + end for name in ("ours", "rival_share", "baseline", "lead") for end in ENDS),
    *("lead_half_width", "verdict"),
]
"""A share or lead is a mean over draws, with the least and the most of a draw. The rival is the
strongest in most draws; its share and the lead are those of the strongest of each draw. The
half-width is the largest of a draw."""


def local_systems(run: str) -> list[tuple[str, Member]]:
    """Return noise and algorithm of the systems of a config that see noisy numbers alone."""
    return [it for it in systems_of(read_config(run)) if it[1].algorithm.model == "local"]


def with_hidden(rows: pd.DataFrame, hidden: float, draw: int) -> pd.DataFrame:
    """Return rows of a state's panel in which a share of the quarters hide their zeros.

    Args:
        rows: rows of one stream of a panel.
        hidden: probability that a quarter of a hospital hides its zeros.
        draw: number of the draw.
    """
    known = hidden_averages()
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
    streams: Sequence[GainStream], systems: pd.DataFrame, plays: NDArray[np.bool_], seed: int
) -> Floats:
    """Return shares of the possible gain, (systems, draws, REPLICATES); nan where none is played.

    Args:
        streams: the stream of a state in each draw.
        systems: the systems of a level.
        plays: which of them play.
        seed: root seed of the config.
    """
    shares = np.full((len(systems), len(streams), REPLICATES), np.nan)
    if not streams:
        return shares
    every = np.repeat([stream.gains for stream in streams], REPLICATES, axis=0)
    uniform, best = every.mean(axis=2).sum(axis=1), every.max(axis=2).sum(axis=1)
    empty = dataclasses.replace(streams[0], gains=np.zeros_like(streams[0].gains))
    games: dict[str, dpol.NoisyGains] = {}
    for place in np.flatnonzero(plays):
        noise, mu, member = systems.iloc[place][["noise", "mu", "member"]]
        if noise not in games:
            noisy = dpol.privatize(empty, noise, mu, seed=seed, replicates=REPLICATES)
            assert noisy.seeds is not None
            assert noisy.mechanism is None  # Gaussian noise does not depend on gains
            again = noisy.seeds.replicates * len(streams)
            games[noise] = dataclasses.replace(
                noisy,
                initial=np.tile(noisy.initial, (len(streams), 1)),
                gains=np.tile(noisy.gains, (len(streams), 1, 1)) + every,
                seeds=dataclasses.replace(noisy.seeds, replicates=again),
            )
        actions = dpol.play(member.algorithm, games[noise], label=member.label).actions
        own = np.take_along_axis(every, actions[:, :, None], axis=2)[:, :, 0].sum(axis=1)
        shares[place] = ((own - uniform) / (best - uniform)).reshape(len(streams), -1)
    return shares


def systems_at_levels(run: str, stream: GainStream, levels: Collection[float]) -> pd.DataFrame:
    """Return a row for each level and system that promises the level, as the standings do."""
    rows = []
    for mu in levels:
        for noise, member in local_systems(run):
            made = dpol.privatize(stream, noise, mu, seed=1, replicates=1).guarantee
            names = {"algorithm": member.label, "family": member.family, "noise": noise}
            keeps = {"mu": mu, "keeps_level": not is_weaker(made.mu, mu), "sees": "noisy"}
            rows.append({**names, **keeps, **made.stay_columns(), "member": member})
    frame = pd.DataFrame(rows)
    config = load_experiment(f"config/{run}.yaml").config
    ours = is_system(frame, (config.comparison.ours.algorithm, config.comparison.ours.noise))
    paper = (frame["algorithm"] == META) & (frame["noise"] == "isotropic")
    frame["role"] = np.select([ours, paper], [OUR_METHOD, THE_BASELINE], "")
    frame = frame.assign(promise=promised(frame))
    return frame[frame["promise"] == THE_LEVEL]


def in_reach(systems: pd.DataFrame, shares: Floats, comparisons: int) -> NDArray[np.bool_]:
    """Return which systems may be the strongest rival in another draw: none is left out unheard.

    They are those whose paired interval contains the strongest of this draw, or without noise those
    at most `NEAR` below it, our method, and the baseline.

    Args:
        systems: the systems of the level.
        shares: shares of the possible gain, (systems, replicates), in one draw.
        comparisons: number of intervals that hold together.
    """
    best = strongest(systems.assign(gain_share=shares.mean(axis=1))).argmax()
    gap = shares[best] - shares
    reach = np.where(np.isinf(systems["mu"]), NEAR, half_width(gap.T, CONFIDENCE, comparisons))
    return np.asarray((gap.mean(axis=1) <= reach) | (systems["role"] != ""))


def summed_up(systems: pd.DataFrame, shares: Floats, comparisons: int) -> dict[str, Any]:
    """Return what the draws of a stream, or of the mean over streams, say of a level.

    Args:
        systems: the systems of the level.
        shares: shares of the possible gain, (systems, draws, replicates), nan where not played.
        comparisons: number of intervals that hold together.
    """
    means = shares.mean(axis=2)
    draws = range(means.shape[1])
    ours, paper = ((systems["role"] == role).argmax() for role in (OUR_METHOD, THE_BASELINE))
    rivals = [int(strongest(systems.assign(gain_share=means[:, draw])).argmax()) for draw in draws]
    apart = np.stack([shares[ours, draw] - shares[rivals[draw], draw] for draw in draws])
    lead, half = apart.mean(axis=1), half_width(apart.T, CONFIDENCE, comparisons)
    verdicts = {*map(verdict_on, lead, half)}
    most = systems.iloc[max(rivals, key=rivals.count)]
    values = {"ours": means[ours], "rival_share": means[rivals, draws]}
    values |= {"baseline": means[paper], "lead": lead}
    ends = (np.mean, np.min, np.max)
    return {
        "draws": len(draws),
        "rival": most["algorithm"],
        "rival_noise": most["noise"],
        **{
            name + end: float(of(each))
            for name, each in values.items()
            for end, of in zip(ENDS, ends, strict=True)
        },
        "lead_half_width": float(half.max()),
        "verdict": verdicts.pop() if len(verdicts) == 1 else UNDECIDED,
    }


def played(run: str, only: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield the rows of a config, for each question about shares, its states and their mean.

    The first draw of each treatment is played by all systems, the others by those in reach in it.

    Args:
        run: name of the config.
        only: the states to play; all by default.
    """
    config = load_experiment(f"config/{run}.yaml").config
    labels = [label for label in config.streams if not only or label in only]
    if not labels:
        return
    gains = {label: gain for label, gain in config.gains.items() if gain.of == "share"}
    panel, _ = clean_table(config.raw_file, config.dataset, config.streams, [*gains.values()])
    levels = config.privacy.levels
    for question, gain in gains.items():
        streams = {
            label: [
                [
                    build_stream(
                        with_hidden(rows, hidden, draw),
                        label,
                        1.0,
                        {},
                        gain=gain,
                        named=f"{label}-{question}" if question else label,
                    )
                    for draw in range(DRAWS if hidden else 1)
                ]
                for hidden in HIDDEN
            ]
            for label, rows in panel.table.groupby("stream", sort=False)
            if label in labels
        }
        systems = systems_at_levels(run, streams[labels[0]][0][0], levels)
        for mu in levels:
            at = systems[systems["mu"] == mu]
            together = (len(at) - 1) * len(levels) * len(gains)
            every = np.ones(len(at), bool)
            first = {
                label: [shares_of(draws[:1], at, every, config.seed) for draws in of]
                for label, of in streams.items()
            }
            over = [np.mean(of, axis=0) for of in zip(*first.values(), strict=True)]
            near = np.any([in_reach(at, it[:, 0], together) for it in over], axis=0)
            shares = []
            for label, of in streams.items():
                many = together * len(labels)
                own = np.any([in_reach(at, it[:, 0], many) for it in first[label]], axis=0)
                shares.append(
                    [
                        np.hstack([begun, shares_of(draws[1:], at, near | own, config.seed)])
                        for begun, draws in zip(first[label], of, strict=True)
                    ]
                )
                print(
                    run, question, mu, label, at.loc[near | own, "algorithm"].tolist(), flush=True
                )
            for hidden, of in zip(HIDDEN, zip(*shares, strict=True), strict=True):
                key = {"run": run, "question": question, "hidden": hidden, "mu": mu}
                yield {**key, "stream": "", **summed_up(at, np.mean(of, axis=0), together)}
                for label, own in zip(streams, of, strict=True):
                    yield {**key, "stream": label, **summed_up(at, own, together * len(labels))}


def plays() -> dict[str, Any]:
    """Return the labels and settings that this plays."""
    settings = [HIDDEN, DRAWS, REPLICATES, SPREAD, CONFIDENCE, NEAR, hidden_averages().tolist()]
    for run in RUNS:
        config = read_config(run)
        keys = ("seed", "streams", "questions", "privacy", "suites", "comparison")
        of = {key: config["dataset"][key] for key in ("source", "columns")}
        rules = config["dataset"]["cleaning"]  # zeros play as such, whether they may hide or not
        of["cleaning"] = {key: rules[key] for key in rules if key != "zeros_hide"}
        settings.append({**{key: config.get(key) for key in keys}, "dataset": of})
    return asked([member.label for run in RUNS for _, member in local_systems(run)], settings)


if __name__ == "__main__":
    states = sys.argv[1:]
    rows = pd.DataFrame([row for run in RUNS for row in played(run, states)])[COLUMNS]
    if states:
        print(rows.to_string(index=False))
    else:
        rows.to_csv(OUT, index=False, float_format="%.5g")
        note("zeros", plays())

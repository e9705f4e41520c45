"""Result tables of all games, from what the points wrote: summary, totals, replay."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.errors import DataError
from dpol.core.randomness import Floats
from dpol.core.schemas import read_frame
from dpol.data.stream import GainStream, read_stream
from dpol.noise import NO_NOISE, find_noise, in_order, privatize
from dpol.privacy.guarantee import Guarantee
from dpol.privacy.mixtures import BatchMixture
from dpol.studies.games.scores import KEY, Scores, collect_cells
from dpol.studies.games.settings import Games
from dpol.studies.games.summary import (
    CURVES,
    SCORES,
    conclude,
    cumulative_curves,
    dates,
    rank_meta,
    schema,
    summarize,
    totals_of,
)
from dpol.studies.games.systems import is_weaker
from dpol.studies.study import Facts, FileLists


def collect(files: FileLists, settings: Games, facts: Facts) -> dict[str, pd.DataFrame]:
    """Build the result tables that the settings ask for, from the scores of all games.

    Raises:
        DataError: a file is incomplete, or has a total gain that no choices have.
        ValueError: a replicate is missing or occurs twice.
    """
    streams = {stream.label: stream for stream in map(read_stream, files["stream"])}
    pairs = zip(map(Path, files["scores"]), map(Path, files["curves"]), strict=True)
    cells = collect_cells(
        possible(own, streams[own.stream], scores)
        for scores, curves in pairs
        for own in read_scores(scores, curves)
    )
    return tables_of(cells, streams, settings, facts)


def tables_of(
    cells: Sequence[Scores], streams: Mapping[str, GainStream], settings: Games, facts: Facts
) -> dict[str, pd.DataFrame]:
    """Build the result tables of games on some streams, by label."""
    summary = summarize(cells, streams, settings, facts)
    tables = {
        "summary": conclude(summary),
        "totals": totals_of(cells, facts),
        "ranking": rank_meta(summary),
    }
    if not facts.asks_several:
        tables["cumulative"] = cumulative_curves(cells, streams, settings, facts)
    if facts.replayed:
        tables["replay"] = replay_rows(cells, streams, settings, facts)
    return tables


def read_scores(scores: Path, curves: Path) -> Iterator[Scores]:
    """Yield the scores of each algorithm from the two tables of a job.

    Raises:
        DataError: a file is damaged, or they are not of the same job.
    """
    every = read_frame(scores, schema(SCORES))
    rows = read_frame(curves, schema(CURVES))
    ends, key = rows["replicates"].cumsum(), list(KEY)
    expected = np.repeat(rows[key].to_numpy(), rows["replicates"], axis=0)
    if not np.array_equal(expected, every[key].to_numpy()):
        raise DataError(f"{scores} and {curves} differ; delete both and run snakemake again")
    for end, row in zip(ends, rows.to_dict("records"), strict=True):
        own = every.iloc[end - row["replicates"] : end]
        batches = row["batch_mu"], row["batch_sizes"], row["batch_weights"]
        yield Scores(
            stream=row["stream"],
            label=row["algorithm"],
            family=row["family"],
            origin=row["origin"],
            noise=row["noise"],
            mu=row["mu"],
            guarantee=Guarantee.of_row(row),
            amplification=None if math.isnan(batches[0]) else BatchMixture(*batches),
            replicates=own["replicate"].to_numpy(),
            totals=own["total_gain"].to_numpy(),
            hits=own["hits"].to_numpy(),
            mean=row["mean_cumulative_gain"],
            squares=row["squared_deviations"],
            equal=row["equal"],
            first=row["first_actions"],
            first_gains=row["first_gains"],
        )


def possible(own: Scores, stream: GainStream, file: Path) -> Scores:
    """Return the scores of an algorithm if some choices on its stream have them.

    Args:
        own: the scores.
        stream: the stream.
        file: where the scores come from, for the message.

    Raises:
        DataError: a total gain is above the oracle's, or below that of the worst choices.
    """
    least, most = float(stream.gains.min(axis=1).sum()), float(stream.gains.max(axis=1).sum())
    rounding = 1e-9 * max(abs(least), abs(most))
    fits = (own.totals >= least - rounding) & (own.totals <= most + rounding)
    if not fits.all():
        raise DataError(
            f"{file}: {own.label} has a total gain of {own.totals[~fits][0]:.10g}, but choices on"
            f" {own.stream} have {least:.10g} to {most:.10g}; delete the file and run snakemake"
            " again"
        )
    return own


# ---- replay --------------------------------------------------------------------------------------

MOST_EXPERTS, MOST_ROUNDS = 40, 200
"""Limits of a replay."""
_MOST_NUMBERS = 32_000  # shares with and without noise: about 150 KB on the page
_FEWEST_EXPERTS = 5
NOT_NOISED = "none"
"""Noise of the setting replayed if no algorithm of the report has noise."""

Setting = tuple[str, float]
"""A noise and its mu."""


def replay_rows(
    cells: Sequence[Scores],
    streams: Mapping[str, GainStream],
    main: Games,
    facts: Facts,
) -> pd.DataFrame:
    """Replay the first replicate on the config's first stream (docs/reference/tables.md).

    Args:
        cells: scores of all games.
        streams: streams they were played on, by label.
        main: the algorithms of the report.
        facts: streams, privacy levels, and the seed and memory to draw the noise again.
    """
    stream = streams[next(iter(facts.streams))]
    played = [
        cell
        for label in main.report.algorithms
        for cell in cells
        if (cell.label, cell.stream) == (label, stream.label)
    ]
    settings = _settings_played(played, facts)
    actions = {setting: _actions_of(played, *setting) for setting in settings}
    best = stream.gains.argmax(axis=1)
    chosen = [best, *(own for setting in settings for own in actions[setting].values())]
    shown = _shown(stream, chosen, _most_shown(stream, settings))
    rows = []
    for noise, mu in settings:
        noisy, scale = stream.gains, np.zeros_like(stream.gains)
        models = {cell.guarantee.model for cell in played if (cell.noise, cell.mu) == (noise, mu)}
        if "local" in models:
            drawn = privatize(
                stream, noise, mu, seed=facts.seed, replicates=[0], memory=facts.memory
            )
            noisy, scale = drawn.gains[0], drawn.noise_scale
        setting = {"stream": stream.label, "noise": noise, "level": facts.labels[mu], "mu": mu}
        numbers = {"noisy_gain": noisy, "noise_scale": scale}
        rows.append(_rows_of(stream, setting, numbers, actions[noise, mu], shown))
    return pd.concat(rows, ignore_index=True)


def _settings_played(played: Sequence[Scores], facts: Facts) -> list[Setting]:
    """Return the noises and levels to replay, in the order of the noises and the config.

    Leaves out noise for batches or sums, noise that is present at every level, and levels that the
    noise does not keep.
    """
    known = {
        (cell.noise, cell.mu)
        for cell in played
        if cell.guarantee.model != "local" or not is_weaker(cell.guarantee.mu, cell.mu)
    }
    noises = map(find_noise, in_order({noise for noise, _ in known} - {NO_NOISE}))
    kept = [
        noise.name
        for noise in noises
        if noise.none_at_infinity and not noise.constant and noise.memory != "sums"
    ]
    replayed = [(noise, mu) for noise in kept for mu in facts.labels if (noise, mu) in known]
    return replayed or [(NOT_NOISED, mu) for mu in facts.labels][:1]


def _actions_of(
    played: Sequence[Scores], noise: str, mu: float
) -> dict[str, NDArray[np.integer[Any]]]:
    """Return (T,) actions of the first replicate by algorithm, with those without privacy."""
    return {
        cell.label: cell.first
        for cell in played
        if (cell.noise, cell.mu) == (noise, mu) or cell.guarantee.model == "none"
    }


def _most_shown(stream: GainStream, settings: Sequence[Setting]) -> int:
    """Return how many experts to draw. Correlated noise takes room for its scales by level."""
    noisy = [find_noise(noise) for noise, mu in settings if mu < math.inf and noise != NOT_NOISED]
    arrays = 2 + len(noisy) + sum(noise.memory != "none" for noise in noisy)
    room = _MOST_NUMBERS // (min(stream.n_rounds, MOST_ROUNDS) * arrays)
    return min(MOST_EXPERTS, max(room, _FEWEST_EXPERTS))


def _shown(
    stream: GainStream, chosen: Sequence[NDArray[np.integer[Any]]], most: int
) -> NDArray[np.bool_]:
    """Return an (n,) mask of the experts to draw: most often chosen first, then largest gain."""
    times = np.zeros(stream.n_experts, dtype=int)
    for actions in chosen:
        np.add.at(times, actions[:MOST_ROUNDS], 1)
    order = np.lexsort((-stream.gains.mean(axis=0), -times))
    return np.isin(np.arange(stream.n_experts), order[:most])


def _rows_of(
    stream: GainStream,
    facts: Mapping[str, Any],
    numbers: Mapping[str, Floats],
    actions: Mapping[str, NDArray[np.integer[Any]]],
    shown: NDArray[np.bool_],
) -> pd.DataFrame:
    """Return the rows of a setting: experts that are shown, chosen in the round, or its best."""
    rounds = np.arange(min(stream.n_rounds, MOST_ROUNDS))
    chosen_by = np.full((len(rounds), stream.n_experts), "", dtype=object)
    for label, own in actions.items():
        at = rounds, own[: len(rounds)]
        chosen_by[at] = [f"{before} {label}".strip() for before in chosen_by[at]]
    oracle = np.zeros(chosen_by.shape, dtype=bool)
    oracle[rounds, stream.gains[: len(rounds)].argmax(axis=1)] = True
    t, i = np.nonzero(shown | (chosen_by != "") | oracle)
    return pd.DataFrame(
        {
            **facts,
            "round": t + 1,
            "period": dates(stream)[t].astype("datetime64[ms]"),
            "expert": i,
            "entity": np.array(stream.entities, dtype=object)[i],
            "name": np.array(stream.names, dtype=object)[i],
            "gain": stream.gains[t, i],
            **{name: values[t, i] for name, values in numbers.items()},
            "chosen_by": chosen_by[t, i],
            "oracle": oracle[t, i],
            "uniform_gain": stream.gains.mean(axis=1)[t],
            "shown": shown[i],
        }
    )

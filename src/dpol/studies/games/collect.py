"""Result tables of all games, from what the points wrote: summary, totals, replay, divided help."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.errors import DataError
from dpol.core.intervals import half_width
from dpol.core.randomness import Floats, seed_sequence
from dpol.core.schemas import read_frame
from dpol.data.stream import GainStream, read_stream
from dpol.noise import NO_NOISE, find_noise, in_order, privatize
from dpol.privacy.guarantee import Guarantee
from dpol.privacy.mixtures import BatchMixture
from dpol.studies.games.allocation import FLOOR, LAST, ORACLE, Row
from dpol.studies.games.scores import KEY, Scores, collect_cells
from dpol.studies.games.settings import ANNOUNCED, Games
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
from dpol.studies.games.systems import is_weaker, keeps_level
from dpol.studies.jobs import read_rows
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
    tables = tables_of(cells, streams, settings, facts)
    if settings.allocation:
        divided = read_rows(files["divided"])
        key = ["stream", "noise", "mu"]
        weaker = tables["summary"].loc[~keeps_level(tables["summary"]), key]
        left_out = pd.MultiIndex.from_frame(divided[key]).isin(pd.MultiIndex.from_frame(weaker))
        tables["allocation"] = allocation_rows(divided[~left_out], facts)
    return tables


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


# ---- divided help --------------------------------------------------------------------------------

BLOCK, RESAMPLES = 8, 1000
"""Length of a block of rounds, and number of resamples, of the bootstrap over rounds."""
_LEAST = 1e-6
"""Need that can be avoided above rounding errors."""
SETTING = "need", "units_follow", "units_share", "rule", "algorithm", "noise", "level"
"""Columns that tell the rows of divided help on a stream apart."""
_SUMS = "units", "total_need", "unmet"
_SAMPLED = "unmet", "avoided", "served_small", "served_others"
"""Scores that are added over streams, and scores with intervals for the noise."""


def allocation_rows(divided: pd.DataFrame, facts: Facts) -> pd.DataFrame:
    """Build one row per stream, kind of need, number of units, rule, noise and level.

    Rows without a stream are sums of counts, and means of shares, over the streams. Columns:
    docs/reference/tables.md.

    Args:
        divided: rows of all games (`dpol.studies.games.allocation.SCHEMA`).
        facts: privacy levels, confidence and seed.

    Raises:
        DataError: no game divided help.
    """
    blocks: dict[tuple[Any, ...], dict[int, Row]] = {}
    records: Any = divided.to_dict("records")
    for row in records:  # several games have the same rows of rules without a forecast
        setting = (row[name] for name in ("stream", *SETTING[:-1]))
        blocks.setdefault((*setting, facts.labels.get(row["mu"], "")), {})[row["first"]] = row
    if not blocks:
        raise DataError("allocation: nothing was divided; play random-effects in a local suite")
    cells: dict[tuple[Any, ...], dict[str, dict[str, Floats]]] = {}
    for (stream, *cell), parts in blocks.items():
        of_units, seen = cell[:3], cell[4:] if cell[1] == ANNOUNCED else ("", NO_NOISE, "")
        floor, oracle = (
            _join_replicates(blocks[stream, *of_units, rule, *seen]) for rule in (FLOOR, ORACLE)
        )
        scores = _scores(_join_replicates(parts), floor, oracle, facts.seed)
        cells.setdefault(tuple(cell), {})[stream] = scores
    for own in cells.values():
        every = {name: [scores[name] for scores in own.values()] for name in scores}
        own[""] = {
            name: np.sum(lists, axis=0) if name in _SUMS else _mean(lists)
            for name, lists in every.items()
        }
    rows = []
    for place, own in cells.items():
        need, follow, share, _, algorithm, noise, level = place
        by = algorithm if follow == ANNOUNCED else ""
        last = cells.get((need, follow, share, LAST, by, noise, level), own)
        for stream, scores in own.items():
            over = {name: scores[name] - last[stream][name] for name in ("avoided", "resampled")}
            row = {"stream": stream, **dict(zip(SETTING, place, strict=True))}
            row |= {name: float(values.mean()) for name, values in scores.items()}
            count = len(_SAMPLED) * (len(blocks) if stream else len(cells))
            for name in _SAMPLED:
                half = float(half_width(scores[name], facts.confidence, count))
                row[f"{name}_half_width"] = 0.0 if noise == NO_NOISE else half
            rows.append(
                row
                | {
                    "mu": facts.levels.get(level, math.nan),
                    "replicates": len(scores["unmet"]),
                    "avoided_rounds_half_width": _spread(scores["resampled"]),
                    "over_last": float(over["avoided"].mean()),
                    "over_last_rounds_half_width": _spread(over["resampled"]),
                    "confidence": facts.confidence,
                    "ci_comparisons": count,
                }
            )
    return pd.DataFrame(rows).drop(columns="resampled")


def _join_replicates(parts: Mapping[int, Row]) -> Row:
    """Join the blocks of replicates of a rule; `by_round` and `by_entity` are means over them."""
    blocks = [parts[first] for first in sorted(parts)]
    every = {
        name: np.concatenate([block[name] for block in blocks])
        for name in ("units", "unmet", "unmet_small")
    }
    means = {
        name: sum(block[name] for block in blocks) / len(every["unmet"])
        for name in ("by_round", "by_entity")
    }
    return {**blocks[0], **every, **means}


def _scores(own: Row, floor: Row, oracle: Row, seed: int) -> dict[str, Floats]:
    """Score a rule on a stream; counts are means over the rounds.

    All arguments are from `_join_replicates`. The same units are divided, so where they differ
    between replicates, all three have the same replicates.
    """
    unmet, small, n_rounds = own["unmet"], own["unmet_small"], len(own["by_round"])
    need, needed_small = own["needed"], own["needed_small"]
    avoided, avoidable = (floor["by_round"] - other["by_round"] for other in (own, oracle))
    draws = _resamples(n_rounds, seed)
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "units": own["units"],
            "total_need": need.sum(keepdims=True) / n_rounds,
            "unmet": unmet / n_rounds,
            "avoided": (floor["unmet"] - unmet) / _known(floor["unmet"] - oracle["unmet"]),
            "served_small": 1 - small / needed_small,
            "served_others": 1 - (unmet - small) / (need.sum() - needed_small),
            "served_worst": (1 - own["by_entity"] / need)[need > 0].min(keepdims=True, initial=1.0),
            "resampled": draws @ avoided / _known(draws @ avoidable),
        }


def _known(avoidable: Floats) -> Floats:
    """Return the need that can be avoided; NaN where it is only a rounding error."""
    return np.where(avoidable > _LEAST, avoidable, math.nan)


@cache
def _resamples(n_rounds: int, seed: int) -> Floats:
    """Return how often each round is in each resample, (`RESAMPLES`, n_rounds).

    A resample has blocks of consecutive rounds; round 1 follows the last. Streams with the same
    number of rounds get the same resamples, because a wave comes to all of them.
    """
    rng = np.random.default_rng(seed_sequence(seed, ("allocation, resamples", n_rounds)))
    starts = rng.integers(n_rounds, size=(RESAMPLES, -(-n_rounds // BLOCK)))
    drawn = (starts[..., None] + np.arange(BLOCK)).reshape(RESAMPLES, -1)[:, :n_rounds] % n_rounds
    return np.array([np.bincount(row, minlength=n_rounds) for row in drawn], dtype=float)


def _mean(lists: Sequence[Floats]) -> Floats:
    """Return the mean of the known numbers over the streams; NaN if none is known."""
    known = ~np.isnan(lists)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, lists, 0.0).sum(axis=0) / known.sum(axis=0))


def _spread(resampled: Floats) -> float:
    """Return half the range of the middle 95% of the resamples in which need can be avoided."""
    known = resampled[~np.isnan(resampled)]
    low, high = np.quantile(known, (0.025, 0.975)) if len(known) else (math.nan, math.nan)
    return float(high - low) / 2

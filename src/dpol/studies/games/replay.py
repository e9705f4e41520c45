"""The replay of one run, round by round: what was seen, and which experts were chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.data.stream import GainStream
from dpol.noise import NO_NOISE, find_noise, in_order, privatize
from dpol.privacy.settings import keeps_level, label_of_level
from dpol.studies.games.settings import GamesSettings
from dpol.studies.study import Facts

MOST_EXPERTS, MOST_ROUNDS = 40, 200
"""Limits of a replay."""
_MOST_NUMBERS = 120_000  # shares with and without noise: about 600 KB on the page
_FEWEST_EXPERTS = 5

_Cell = Mapping[Any, Any]
"""A row of a cell."""


def replay_rows(
    cells: pd.DataFrame,
    streams: Mapping[str, GainStream],
    main: GamesSettings,
    facts: Facts,
) -> pd.DataFrame:
    """Replay the first replicate on the config's first stream (docs/reference/tables.md).

    Args:
        cells: a row per cell.
        streams: streams they were played on, by label.
        main: the algorithms of the report, which come first, and the seed and memory to draw the
            noise again.
        facts: streams and privacy levels.
    """
    stream = streams[next(iter(facts.streams))]
    own = cells[cells["stream"] == stream.label]
    played = [
        cell
        for label in dict.fromkeys([*main.report.algorithms, *own["algorithm"]])
        for cell in own[own["algorithm"] == label].to_dict("records")
    ]
    settings = {
        setting: [
            it for it in played if (it["noise"], it["mu"]) == setting or it["model"] == "none"
        ]
        for setting in _settings_played(played, facts)
    }
    best = stream.gains.argmax(axis=1)
    chosen = [best, *(cell["first_actions"] for games in settings.values() for cell in games)]
    shown = _experts_drawn(stream, chosen, _most_experts_drawn(stream, [*settings]))
    rounds, rows = np.arange(min(stream.n_rounds, MOST_ROUNDS)), []
    oracle = np.zeros((len(rounds), stream.n_experts), dtype=bool)
    oracle[rounds, best[: len(rounds)]] = True
    for (noise, mu), games in settings.items():
        noisy, scale = stream.gains, np.zeros_like(stream.gains)
        if any(cell["sees"] == "noisy" for cell in games):
            drawn = privatize(stream, noise, mu, seed=main.seed, replicates=[0], memory=main.memory)
            noisy, scale = drawn.gains[0], drawn.noise_scale
        chosen_by = np.full(oracle.shape, "", dtype=object)
        for cell in games:
            at = rounds, cell["first_actions"][: len(rounds)]
            chosen_by[at] = [f"{before} {cell['algorithm']}".strip() for before in chosen_by[at]]
        # Experts that are shown, chosen in the round, or its best.
        t, i = np.nonzero(shown | (chosen_by != "") | oracle)
        row = {
            "stream": stream.label,
            "noise": noise,
            "level": label_of_level(mu),
            "mu": mu,
            "round": t + 1,
            "period": dates(stream)[t].astype("datetime64[ms]"),
            "expert": i,
            "entity": np.array(stream.entities, dtype=object)[i],
            "name": np.array(stream.names, dtype=object)[i],
            "gain": stream.gains[t, i],
            "noisy_gain": noisy[t, i],
            "noise_scale": scale[t, i],
            "chosen_by": chosen_by[t, i],
            "oracle": oracle[t, i],
            "uniform_gain": stream.gains.mean(axis=1)[t],
            "shown": shown[i],
        }
        rows.append(pd.DataFrame(row))
    return pd.concat(rows, ignore_index=True)


def _settings_played(played: Sequence[_Cell], facts: Facts) -> list[tuple[str, float]]:
    """Return the noises and levels to replay, in the order of the noises and the config.

    Leaves out noise for batches, noise that is present at every level, and levels that the
    noise does not keep.
    """
    known = {
        (cell["noise"], cell["mu"])
        for cell in played
        if cell["sees"] != "noisy" or keeps_level(cell["guaranteed_mu"], cell["mu"])
    }
    noises = map(find_noise, in_order({noise for noise, _ in known} - {NO_NOISE}))
    kept = [noise.name for noise in noises if noise.none_at_infinity and not noise.constant]
    replayed = [(noise, mu) for noise in kept for mu in facts.levels if (noise, mu) in known]
    return replayed or [(NO_NOISE, mu) for mu in facts.levels][:1]


def _most_experts_drawn(stream: GainStream, settings: Sequence[tuple[str, float]]) -> int:
    """Return how many experts to draw. Correlated noise takes room for its scales by level."""
    noisy = [find_noise(noise) for noise, mu in settings if mu < math.inf and noise != NO_NOISE]
    arrays = 2 + len(noisy) + sum(noise.memory != "none" for noise in noisy)
    room = _MOST_NUMBERS // (min(stream.n_rounds, MOST_ROUNDS) * arrays)
    return min(MOST_EXPERTS, max(room, _FEWEST_EXPERTS))


def _experts_drawn(
    stream: GainStream, chosen: Sequence[NDArray[np.integer[Any]]], most: int
) -> NDArray[np.bool_]:
    """Return an (n,) mask of the experts to draw.

    The best ones of all rounds come first, so that a player can choose them, then the most often
    chosen, then those with the largest gain.

    Args:
        stream: the stream.
        chosen: (T,) experts: the best of each round, then the choices of each game.
        most: the largest number to draw.
    """
    times = np.zeros((2, stream.n_experts), dtype=int)
    for row, actions in enumerate(chosen):
        np.add.at(times[min(row, 1)], actions[:MOST_ROUNDS], 1)
    order = np.lexsort((-stream.gains.mean(axis=0), -times.sum(axis=0), times[0] == 0))
    return np.isin(np.arange(stream.n_experts), order[:most])


def dates(stream: GainStream) -> NDArray[np.datetime64]:
    """Return the (T,) periods; NaT where rounds have numbers only."""
    undated = stream.provenance.get("undated", False)
    return np.full_like(stream.periods, "NaT") if undated else stream.periods

"""Replay of one game, round by round: its rows, the data for the script of the page, its words."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.intervals import NORMAL_95
from dpol.core.randomness import Floats
from dpol.core.words import counted
from dpol.data.stream import GainStream
from dpol.noise import NO_NOISE, find_noise, in_order, privatize
from dpol.show.looks import looks_of
from dpol.show.names import name_of
from dpol.show.style import text_colour
from dpol.show.words import privacy_title
from dpol.studies.games.scores import Scores
from dpol.studies.games.settings import Games
from dpol.studies.games.summary import dates
from dpol.studies.page import PageFacts, Widget
from dpol.studies.study import Facts, Frames

MOST_EXPERTS, MOST_ROUNDS = 40, 200
"""Limits of a replay."""
_MOST_NUMBERS = 32_000  # shares with and without noise: about 150 KB on the page
_FEWEST_EXPERTS = 5
_KEPT = 2  # fewest words of a name
_EDGE = 0.01  # share of the noisy gains that may lie beyond each edge of the drawing
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

    Leaves out noise for batches or sums, and noise that is present at every level.
    """
    known = {(cell.noise, cell.mu) for cell in played}
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


# ---- what is shown -------------------------------------------------------------------------------


def replay_widget(frames: Frames, settings: Games, facts: PageFacts) -> Widget:
    """Build the replay of the first run on the first stream, choice by choice."""
    replay, summary = frames["replay"], frames["summary"]
    if next(iter(facts.gains.values())).of == "count":  # not a share
        facts = replace(facts, columns=None)
    data = replay_data(replay, summary, settings.report.algorithms, facts)
    # No text may end the script element.
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    values = {
        "data": text,
        "words": data["words"],
        "noisy": any(setting["noisy"] for setting in data["settings"]),
        "factor": NORMAL_95,
        "covered": round(100 * math.erf(NORMAL_95 / math.sqrt(2))),
    }
    return Widget(
        name="replay",
        values=values,
        title=f"{facts.period.capitalize()} by {facts.period}",
        intro=replay_intro(replay, summary, facts),
    )


def replay_intro(replay: pd.DataFrame, summary: pd.DataFrame, facts: PageFacts) -> str:
    """Introduce the run that is replayed, and tell what is left out.

    Args:
        replay: table of `replay_rows`.
        summary: summary of the run.
        facts: facts of the run.
    """
    own = summary[summary["stream"] == replay["stream"][0]].iloc[0]
    period, entity = facts.period, _words(facts)["entity"]
    parts = [
        f"{facts.streams[own['stream']]}, first of {own['replicates']} runs. Every choice is made"
        f" before the numbers of its {period} are seen."
    ]
    shown, rounds = replay.loc[replay["shown"], "expert"].nunique(), replay["round"].max()
    if shown < own["n_experts"]:
        parts.append(
            f"{shown} of {own['n_experts']} {entity}s have a row: the ones chosen most often."
        )
    if rounds < own["n_rounds"]:
        parts.append(f"The replay covers the first {rounds} of {own['n_rounds']} {period}s.")
    if missing := _missing(replay["period"]):
        parts.append(
            f"Dates jump where the table has no row for a {period}:"
            f" {counted(missing, period)} {'is' if missing == 1 else 'are'} missing."
        )
    return " ".join(parts)


def _missing(periods: pd.Series) -> int:
    """Count the dated periods missing between the first and the last one."""
    steps = periods.dropna().drop_duplicates().sort_values().diff().dropna()
    return int((steps / steps.min()).round().sub(1).sum()) if len(steps) else 0


def replay_data(
    replay: pd.DataFrame, summary: pd.DataFrame, algorithms: Sequence[str], facts: PageFacts
) -> dict[str, Any]:
    """Return the data of the script `replay.js`; gains are integers in units of 1 / `one`.

    Arrays of shown experts have length rounds x shown, round by round. Experts are numbered in the
    order of `names`: the shown ones in the order of the stream, then the ones merely chosen.

    Args:
        replay: table of `replay_rows`.
        summary: summary of the run; it says which algorithms see noisy gains only.
        algorithms: labels of the report's algorithms, in its order.
        facts: facts of the run.
    """
    first = replay[(replay["noise"] == replay["noise"][0]) & (replay["mu"] == replay["mu"][0])]
    shown = sorted(set(first.loc[first["shown"], "expert"]))
    # Not by gain: the order must reveal nothing before a choice.
    experts = [*shown, *sorted(set(replay["expert"]) - set(shown))]
    place = {expert: number for number, expert in enumerate(experts)}
    one = 1000 if facts.columns else 1000 / max(first["gain"].max(), 1e-300)
    rows = replay.assign(at=replay["expert"].map(place), unseen=~replay["shown"])
    rows = rows.sort_values(["round", "at"], kind="stable")
    known = rows[rows["unseen"]].drop_duplicates(["round", "at"])
    first = rows.loc[rows.index.intersection(first.index, sort=False)]
    models = summary.drop_duplicates("algorithm").set_index("algorithm")["model"]
    labels = [label for label in algorithms if label in models.index]
    looks = looks_of(algorithms)
    rounds = first.drop_duplicates("round")
    return {
        "words": _words(facts),
        "one": one,
        "shown": len(shown),
        "rounds": [f"{period:%Y-%m-%d}" if pd.notna(period) else "" for period in rounds["period"]],
        "names": short_names(rows.drop_duplicates("at").sort_values("at")),
        "truth": _whole(one * first.loc[first["shown"], "gain"]),
        "uniform": _whole(one * rounds["uniform_gain"]),
        "best": first.loc[first["oracle"], "at"].tolist(),
        "unseen": np.column_stack(
            [known["round"] - 1, known["at"], _whole(one * known["gain"])]
        ).ravel().tolist() if len(known) else [],
        "algorithms": [[one, models[one], text_colour(looks[one].colour)] for one in labels],
        **_settings(rows, one, labels),
    }  # fmt: skip


def _words(facts: PageFacts) -> dict[str, str]:
    """Return the words of the table; a table of gains has experts and gains."""
    if facts.columns is None:
        return {"period": facts.period, "entity": "expert", "count": "", "capacity": ""}
    return {
        "period": facts.period,
        "entity": facts.columns.called("entity"),
        "count": facts.columns.called("count"),
        "capacity": facts.columns.called("capacity"),
    }


def short_names(experts: pd.DataFrame) -> list[str]:
    """Shorten names by their common first words; equal names get their identifiers."""
    twice = experts["name"].duplicated(keep=False)
    both = experts["name"] + " (" + experts["entity"] + ")"
    names = experts["name"].where(~twice, both).tolist()
    words = [name.split(" ") for name in names]
    alike = sum(1 for _ in takewhile(lambda own: len(set(own)) == 1, zip(*words, strict=False)))
    start = max(0, min(alike, *(len(parts) - _KEPT for parts in words)))
    return [" ".join(parts[start:]) for parts in words]


def _settings(rows: pd.DataFrame, one: float, labels: list[str]) -> dict[str, Any]:
    """Return noisy gains, edges of the drawing and actions of each setting, and half-widths.

    Half-widths proportional to earlier ones, as for most noises at another mu, become a factor.
    """
    settings, halves = [], list[Floats]()
    groups: Iterable[tuple[Any, pd.DataFrame]] = rows.groupby(["noise", "mu"], sort=False)
    for (noise, mu), own in groups:
        shown = own[own["shown"]]
        noisy, half = one * shown["noisy_gain"], one * NORMAL_95 * shown["noise_scale"].to_numpy()
        private = bool(half.any())
        if private and not any(_in_proportion(half, known) for known in halves):
            halves.append(half)
        like = [k for k, known in enumerate(halves) if private and _in_proportion(half, known)][:1]
        edges = np.quantile(noisy, [_EDGE, 1 - _EDGE])
        settings.append(
            {
                "noise": noise,
                "title": name_of(noise).long or f"{noise} noise",
                "level": privacy_title(mu),
                "mu": f"{mu:g}",
                "noisy": _whole(noisy) if private else None,
                "half": like[0] if like else None,
                "factor": float(f"{half.sum() / halves[like[0]].sum():.6g}") if like else 0,
                "edges": _whole([min(0.0, edges[0]), max(one * shown["gain"].max(), edges[1])]),
                "actions": _actions(own, labels),
            }
        )
    n_rounds = int(rows["round"].max())
    return {"settings": settings, "halves": [_packed(own.reshape(n_rounds, -1)) for own in halves]}


def _in_proportion(half: Floats, other: Floats) -> bool:
    return np.allclose(half * other.sum(), other * half.sum(), rtol=1e-6)


def _packed(half: Floats) -> list[int]:
    """Pack half-widths by round if they are equal for all experts, else by round and expert."""
    return _whole(half[:, 0] if (half == half[:, :1]).all() else half.ravel())


def _actions(rows: pd.DataFrame, labels: list[str]) -> list[list[int] | None]:
    """Return the choices of each algorithm; None for one that did not play."""
    chosen = rows.assign(label=rows["chosen_by"].str.split()).explode("label")
    by_label: Mapping[Any, pd.DataFrame] = dict(iter(chosen.groupby("label")))
    return [by_label[label]["at"].tolist() if label in by_label else None for label in labels]


def _whole(values: Any) -> list[int]:
    rounded: list[int] = np.rint(np.asarray(values, dtype=float)).astype(int).tolist()
    return rounded

"""Interactive figures of the page, for its scripts: a slider of levels, and a replay of a game."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
import pandas as pd

from dpol.config.models import Config
from dpol.core.intervals import NORMAL_95
from dpol.core.words import at_most
from dpol.noise import find_noise
from dpol.privacy.account import best_guess
from dpol.privacy.noise_laws import GAUSSIAN, LAPLACE
from dpol.privacy.settings import ordered_levels
from dpol.show.entries import looks_of, noise_entry
from dpol.show.panels import text_colour
from dpol.show.rendering import load_template
from dpol.show.words import privacy_title
from dpol.studies.league.privacy import guesses_title
from dpol.studies.league.systems import (
    IN_HINDSIGHT,
    SystemLine,
    first_level,
    groups_of,
    lines_of,
    name_system,
    share_text,
)
from dpol.studies.study import Facts, Frames

Widget = tuple[Mapping[str, Any], Mapping[str, Any]]
"""An interactive figure: what its script reads, as plain values, and the `widget` of its section,
perhaps with another `title` and `intro`."""


def answer_widget(frames: Frames, facts: Facts) -> Widget:
    """Build the figure of the systems of a run, for the script `answer.js`."""
    standings, levels = frames["standings"], ordered_levels(facts.levels)
    lines = lines_of(standings)
    data = {
        "start": first_level(facts),
        "levels": [
            {
                "mu": f"{mu:g}",
                "title": privacy_title(mu),
                "guesses": at_most(100 * best_guess(mu)),
            }
            for mu in levels
        ],
        "panels": [
            {"title": title, **_panel(rows, lines, levels)}
            for title, rows in groups_of(standings, facts).items()
        ],
    }
    widget = load_template("answer.html.j2", "dpol.report").render(
        kind="question" if facts.asks_several else "stream",
        privacy=guesses_title(standings),
    )
    return data, {"widget": widget}


def _panel(
    rows: pd.DataFrame, lines: Sequence[SystemLine], levels: Sequence[float]
) -> dict[str, Any]:
    drawn = []
    for line in lines:
        of_level = {row["mu"]: row for row in line.among(rows).to_dict("records")}
        drawn.append(
            {
                "name": line.name,
                "colour": text_colour(line.look.colour),
                "dashes": " ".join(f"{line.look.width * dash:g}" for dash in line.look.dashes),
                "width": line.look.width,
                "points": [
                    _point(of_level[mu], told=line.name in IN_HINDSIGHT) if mu in of_level else None
                    for mu in levels
                ],
            }
        )
    fixed, share = rows[["best_fixed", "best_fixed_share"]].iloc[0]
    kept = None if math.isnan(share) else round(float(share), 6)
    return {"lines": drawn, "fixed": fixed, "share": kept}


def _point(row: Any, *, told: bool) -> list[float | str | None]:
    """Return a share, its half-width, both in words, and the system if the level chooses it."""
    share, half = row["gain_share"], row["gain_share_half_width"]
    system = name_system(row) if told else ""
    known = round(float(half), 6) if math.isfinite(half) else None
    return [round(float(share), 6), known, share_text(share, half), system]


# ---- a game, round by round ----------------------------------------------------------------------

System = tuple[str, str, float]
"""Algorithm, noise and mu."""
_KEPT = 2  # fewest words of a name
_FINE = 1000  # true gains have as many more steps, so that sums of them are exact
_BARS = {GAUSSIAN.name: NORMAL_95, LAPLACE.name: math.log(20) / math.sqrt(2)}
"""Standard deviations within which a law has 95% of its noise, by its name."""
_EDGE = 0.01  # share of the noisy gains that may lie beyond each edge of the drawing


def replay_widget(frames: Frames, facts: Facts, config: Config, led: System | None) -> Widget:
    """Build the replay of the first run on the first stream, choice by choice.

    Args:
        frames: its result tables.
        facts: facts of the run.
        config: config of the run.
        led: the system of which the lead tells at first.
    """
    replay, summary, period = frames["replay"], frames["summary"], config.dataset.period
    # A table of gains has experts and gains.
    words = {"period": period, "entity": "expert", "count": "", "capacity": ""}
    columns, gain = config.dataset.columns, next(iter(config.gains.values()))
    if columns and gain.of != "count":
        words |= {name: columns.called(name) for name in ("entity", "count", "capacity")}
    models = dict(zip(summary["algorithm"], summary["model"], strict=True))
    labels = dict.fromkeys([*config.report.algorithms, *(led or ())[:1]])
    data = _data(replay, {it: models[it] for it in labels if it in models}, words, led)
    noisy = any(setting["noisy"] for setting in data["settings"])
    return data, {
        "title": f"{period.capitalize()} by {period}",
        "intro": replay_intro(replay, summary, words, facts.streams),
        "widget": load_template("replay.html.j2", "dpol.report").render(words=words, noisy=noisy),
    }


def replay_intro(
    replay: pd.DataFrame,
    summary: pd.DataFrame,
    words: Mapping[str, str],
    streams: Mapping[str, str],
) -> str:
    """Introduce the run that is replayed, and tell what is left out.

    Args:
        replay: table of `dpol.studies.games.replay.replay_rows`.
        summary: summary of the run.
        words: names of a period, an entity, a count and a capacity.
        streams: titles of the streams.
    """
    own = summary[summary["stream"] == replay["stream"][0]].iloc[0]
    period, entity = words["period"], words["entity"]
    parts = [
        f"{streams[own['stream']]}, first of {own['replicates']} runs. Every choice is made"
        f" before the numbers of its {period} are seen."
    ]
    shown, rounds = replay.loc[replay["shown"], "expert"].nunique(), replay["round"].max()
    if shown < own["n_experts"]:
        parts.append(
            f"{shown} of {own['n_experts']} {entity}s have a row: the best of each {period} and"
            " those chosen most often."
        )
    if rounds < own["n_rounds"]:
        parts.append(f"The replay covers the first {rounds} of {own['n_rounds']} {period}s.")
    return " ".join(parts)


def _data(
    replay: pd.DataFrame, models: Mapping[str, str], words: Mapping[str, str], led: System | None
) -> dict[str, Any]:
    """Return the data of the script `replay.js`; noisy gains are integers in units of 1 / `one`.

    True gains, of which scores are made, are in units of 1 / (`one` `fine`). Arrays of shown
    experts have length rounds x shown, round by round. Experts are numbered in the order of
    `names`: the shown ones in the order of the stream, then the ones merely chosen.

    Args:
        replay: table of `dpol.studies.games.replay.replay_rows`.
        models: what each algorithm sees, by label, in their order.
        words: names of a period, an entity, a count and a capacity; gains have no count.
        led: the system of which the lead tells at first.
    """
    first = replay[(replay["noise"] == replay["noise"][0]) & (replay["mu"] == replay["mu"][0])]
    shown = sorted(set(first.loc[first["shown"], "expert"]))
    # Not by gain: the order must reveal nothing before a choice.
    experts = [*shown, *sorted(set(replay["expert"]) - set(shown))]
    place = {expert: number for number, expert in enumerate(experts)}
    one = 1000 if words["count"] else 1000 / max(first["gain"].max(), 1e-300)
    rows = replay.assign(at=replay["expert"].map(place), unseen=~replay["shown"])
    rows = rows.sort_values(["round", "at"], kind="stable")
    known = rows[rows["unseen"]].drop_duplicates(["round", "at"])
    first = rows.loc[rows.index.intersection(first.index, sort=False)]
    labels = [*models]
    looks, settings = looks_of(labels), _settings(rows, one, labels)
    rounds = first.drop_duplicates("round")
    return {
        "words": words,
        "one": one,
        "fine": _FINE,
        "shown": len(shown),
        "rounds": [f"{period:%Y-%m-%d}" if pd.notna(period) else "" for period in rounds["period"]],
        "names": short_names(rows.drop_duplicates("at").sort_values("at")),
        "truth": _whole(_FINE * one * first.loc[first["shown"], "gain"]),
        "uniform": _whole(_FINE * one * rounds["uniform_gain"]),
        "best": first.loc[first["oracle"], "at"].tolist(),
        "unseen": np.column_stack(
            [known["round"] - 1, known["at"], _whole(_FINE * one * known["gain"])]
        ).ravel().tolist() if len(known) else [],
        "algorithms": [[one, models[one], text_colour(looks[one].colour)] for one in labels],
        "settings": settings,
        "start": _start(settings, labels, led or ("", "", 0.0)),
    }  # fmt: skip


def _start(settings: list[dict[str, Any]], labels: list[str], lead: System) -> list[int]:
    """Return the places of the setting and the algorithm that are played first: the lead's."""
    led, noise, mu = lead
    ranks = [(it["noise"] == noise, it["mu"] == f"{mu:g}", bool(it["noisy"])) for it in settings]
    place = ranks.index(max(ranks))
    played = [k for k, chosen in enumerate(settings[place]["actions"]) if chosen]
    theirs = [k for k in played if labels[k] == led]
    return [place, (theirs or played)[0]]


def short_names(experts: pd.DataFrame) -> list[str]:
    """Shorten names by their common first words; equal names get their identifiers."""
    twice = experts["name"].duplicated(keep=False)
    both = experts["name"] + " (" + experts["entity"] + ")"
    names = experts["name"].where(~twice, both).tolist()
    words = [name.split(" ") for name in names]
    alike = sum(1 for _ in takewhile(lambda own: len(set(own)) == 1, zip(*words, strict=False)))
    start = max(0, min(alike, *(len(parts) - _KEPT for parts in words)))
    return [" ".join(parts[start:]) for parts in words]


def _settings(rows: pd.DataFrame, one: float, labels: list[str]) -> list[dict[str, Any]]:
    """Return noisy gains with bars, edges of the drawing and actions of each setting."""
    settings, n_rounds = [], int(rows["round"].max())
    groups: Iterable[tuple[Any, pd.DataFrame]] = rows.groupby(["noise", "mu"], sort=False)
    for (noise, mu), own in groups:
        shown = own[own["shown"]]
        noisy, scale = one * shown["noisy_gain"], one * shown["noise_scale"].to_numpy()
        factor, told = _bar_of(noise) if scale.any() else (0.0, "")
        edges = np.quantile(noisy, [_EDGE, 1 - _EDGE])
        half = factor * scale.reshape(n_rounds, -1)
        if (half == half[:, :1]).all():  # equal for all experts of a round
            half = half[:, 0]
        chosen = own.assign(label=own["chosen_by"].str.split()).explode("label")
        actions = {label: its["at"].tolist() for label, its in chosen.groupby("label")}
        settings.append(
            {
                "noise": noise,
                "title": noise_entry(noise).long,
                "level": privacy_title(mu),
                "mu": f"{mu:g}",
                "noisy": _whole(noisy) if scale.any() else None,
                "halves": _whole(half.ravel()) if factor else None,
                "bar": told,
                "edges": _whole([min(0.0, edges[0]), max(one * shown["gain"].max(), edges[1])]),
                "actions": [actions.get(label) for label in labels],  # None if it did not play
            }
        )
    return settings


def _bar_of(name: str) -> tuple[float, str]:
    """Return the half-width of the bar of a noise, in standard deviations, and what it means."""
    factor = _BARS[find_noise(name).law_name]
    size = f"±{factor:.2f} standard deviations of the noise, which are public"
    return factor, f"{size}: the truth lies within them 95 times in 100."


def _whole(values: Any) -> list[int]:
    rounded: list[int] = np.rint(np.asarray(values, dtype=float)).astype(int).tolist()
    return rounded

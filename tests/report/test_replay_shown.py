"""Replay on the page: its data agree with the table, and its texts with its data."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import laplace, norm

from checks.scales import named
from dpol.report.widgets import Widget, replay_intro, replay_widget
from dpol.studies.games.replay import _experts_drawn
from replays import games, replay_of, stream_of
from report.run_by_hand import config, replay
from tables_by_hand import summary

WORDS = {"period": "week", "entity": "e", "count": "c", "capacity": "k"}
TITLES = config().facts.streams


def widget_of(frame: pd.DataFrame, **changes: Any) -> Widget:
    settings = config(**changes)
    frames = {"replay": frame, "summary": summary()}
    return replay_widget(frames, settings.facts, settings, None)


def data_of(frame: pd.DataFrame, **changes: Any) -> Any:
    """Return the data of the script."""
    return widget_of(frame, **changes)[0]


def test_the_data_of_the_page_equal_the_table() -> None:
    """Whiskers are the quantile of the law of their noise."""
    levels, theirs = (math.inf, 1.0, 0.25), named("Laplace by pure epsilon")
    noises = "isotropic", "capacity", "capacity-memory", theirs
    stream = stream_of(6, 3)
    frame = replay_of(stream, games(stream, noises, levels=levels), levels=levels)
    frame["chosen_by"] = frame["chosen_by"].str.replace("rw-ftpl", "rw-meta")
    data = data_of(frame, privacy={"levels": [*levels]})
    assert (len(data["rounds"]), data["shown"], data["words"]) == (6, 3, WORDS)
    assert data["algorithms"][0][:2] == ["rw-meta", "local"]
    groups = frame.groupby(["noise", "mu"], sort=False)
    for setting, ((noise, mu), own) in zip(data["settings"], groups, strict=True):
        assert data["truth"] == np.rint(1e6 * own["gain"]).tolist()
        assert data["best"] == own.loc[own["oracle"], "expert"].tolist()
        rw_meta, tree, leader = setting["actions"]
        assert rw_meta == own.loc[own["chosen_by"].str.contains("rw-meta"), "expert"].tolist()
        assert (tree, len(leader)) == (None, 6), "the tree did not play"
        if mu == math.inf:
            assert (setting["noisy"], setting["halves"]) == (None, None)
            continue
        assert setting["noisy"] == np.rint(1000 * own["noisy_gain"]).tolist()
        law = laplace(scale=0.5**0.5) if noise == theirs else norm
        factor = law.ppf(0.975)
        half = np.array(setting["halves"]).reshape(6, -1)
        drawn = np.broadcast_to(half, (6, 3)).ravel()
        np.testing.assert_allclose(drawn, 1000 * factor * own["noise_scale"], atol=0.5)
        assert setting["bar"].startswith(f"±{factor:.2f} standard deviations")
    lengths = [len(it["halves"]) for it in data["settings"] if it["halves"]]
    assert lengths == [6, 6, *[18] * 6], "isotropic noise is the same for all experts of a round"


def test_without_any_noise_the_truth_alone_is_replayed() -> None:
    levels = (math.inf,)
    stream = stream_of(6, 3)
    frame = replay_of(stream, games(stream, levels=levels), levels=levels)
    noisy = ["with noise" in widget_of(it)[1]["widget"] for it in (frame, replay())]
    assert noisy == [False, True]


def test_names_that_begin_alike_are_cut_and_equal_ones_told_apart() -> None:
    names = ("Simulated Hospital NM 1", "Simulated Hospital NM 2", "Simulated Hospital NM 3")
    assert data_of(replay_of(stream_of(4, 3, names=names)))["names"] == ["NM 1", "NM 2", "NM 3"]
    twins = data_of(replay_of(stream_of(4, 3, names=("Mercy", "Mercy", "Hope"))))
    assert twins["names"] == ["Mercy (e0)", "Mercy (e1)", "Hope"]


def test_the_data_of_many_experts_and_rounds_stay_small() -> None:
    stream = stream_of(250, 343)
    frame = replay_of(stream, games(stream, ("isotropic", "capacity"), replicates=1))
    data = data_of(frame)
    assert len(json.dumps(data, separators=(",", ":"))) < 200_000
    assert data["shown"] == 40 < len(data["names"])
    unseen = np.array(data["unseen"]).reshape(-1, 3)
    rows = frame[~frame["shown"]].drop_duplicates(["round", "expert"])
    assert len(unseen) == len(rows)
    places = {entity: number for number, entity in enumerate(data["names"])}
    at = [places[name] for name in rows["name"]]
    known = zip(rows["round"] - 1, at, np.rint(1e6 * rows["gain"]), strict=True)
    assert sorted(map(tuple, unseen.tolist())) == sorted(known)
    told = replay_intro(frame, summary().assign(n_experts=343, n_rounds=250), WORDS, TITLES)
    assert told.startswith("New Mexico, first of 100 runs.")
    assert "40 of 343 es have a row" in told
    assert "The replay covers the first 200 of 250 weeks." in told


def test_a_table_of_gains_has_gains_and_rounds() -> None:
    frame = replay()
    frame = frame.assign(gain=9e-7 * frame["gain"])
    source = {"kind": "gains", "file": "t.csv", "sensitivity": 1.0}
    data = data_of(frame, dataset={"source": source})
    assert max(data["truth"]) == 1e6
    assert data["words"] == {"period": "round", "entity": "expert", "count": "", "capacity": ""}


def test_play_begins_with_the_rule_noise_and_level_of_the_lead() -> None:
    levels = math.inf, 1.0, 0.25
    frame = replay_of(stream_of(6, 3), games(stream_of(6, 3), levels=levels), levels=levels)
    frame["chosen_by"] = frame["chosen_by"].str.replace("rw-ftpl", "ridge-w8-weak")
    settings = config()
    assert "ridge-w8-weak" not in settings.report.algorithms
    rows = pd.concat([summary(), summary().assign(algorithm="ridge-w8-weak", model="local")])
    frames = {"replay": frame, "summary": rows}
    for led in (("ridge-w8-weak", "capacity", 1.0), ("ridge-w8-weak", "isotropic", 0.25)):
        data = replay_widget(frames, settings.facts, settings, led)[0]
        setting, algorithm = data["start"]
        played = data["settings"][setting]
        assert (played["noise"], played["mu"]) == (led[1], f"{led[2]:g}")
        assert data["algorithms"][algorithm][0] == led[0]
        assert played["actions"][algorithm]
    other = replay_widget(frames, settings.facts, settings, None)[0]
    assert other["settings"][other["start"][0]]["noisy"], "without such a rule, with noise"


def test_the_best_of_each_round_has_a_row_before_those_chosen_often() -> None:
    """Experts 1 and 2 are best in one round each; nobody chooses them, and all choose 0."""
    gains = np.full((6, 4), 0.5)
    gains[0, 1] = gains[1, 2] = gains[2:, 3] = 1.0
    chosen = [gains.argmax(axis=1), *[np.zeros(6, dtype=int)] * 9]
    shown = _experts_drawn(replace(stream_of(6, 4), gains=gains), chosen, 3)
    assert shown.tolist() == [False, True, True, True]

"""The replay on the page: its data give the table back, and it says what it shows."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpol.config.models import Config
from dpol.noise import privatize
from dpol.report.replay import period_of, replay_data, replay_intro, replay_widget
from replays import games, replay_of, stream_of
from report.run_by_hand import ODD, config, page, replay
from tables_by_hand import summary


def data_of(frame: pd.DataFrame, **changes: Any) -> dict[str, Any]:
    """The data in the page, as a browser reads them."""
    widget = replay_widget(frame, config(**changes), summary())
    text = widget.split('type="application/json"')[1].split(">", 1)[1].split("</script>")[0]
    found: dict[str, Any] = json.loads(text)
    return found


def gains_config() -> Config:
    source = {"kind": "gains", "file": "t.csv", "sensitivity": 1.0}
    return config(dataset={"source": source})


def test_the_data_of_the_page_are_those_of_the_table() -> None:
    frame = replay()
    data = data_of(frame)
    shape = len(data["rounds"]), data["shown"]
    assert shape == (6, 3)
    order = [(noise, mu) for noise in ("isotropic", "capacity") for mu in (math.inf, 1.0)]
    for (noise, mu), found in zip(order, data["settings"], strict=True):
        own = frame[(frame["noise"] == noise) & (frame["mu"] == mu)]
        wanted = own.sort_values(["round", "expert"])
        assert data["truth"] == np.rint(1000 * wanted["gain"]).tolist()
        assert data["best"] == wanted.loc[wanted["foresight"], "expert"].tolist()
        chose = wanted["chosen_by"].str.contains("rw-meta")
        rw_meta, tree, leader = found["actions"]
        assert rw_meta == wanted.loc[chose, "expert"].tolist()
        assert tree is None, "it did not play"
        assert len(leader) == 6
        if mu == math.inf:
            assert (found["noisy"], found["factor"]) == (None, 0)
        else:
            assert found["noisy"] == np.rint(1000 * wanted["noisy_gain"]).tolist()
            half = 1000 * 1.96 * wanted["noise_scale"].to_numpy()
            own_half = np.array(data["halves"][noise], dtype=float).reshape(6, -1)
            shown = np.broadcast_to(found["factor"] * own_half, (6, 3)).ravel()
            np.testing.assert_allclose(shown, half, atol=0.5)
    assert [len(data["halves"][it]) for it in ("isotropic", "capacity")] == [6, 18]
    assert data["algorithms"][0][:2] == ["rw-meta", "local"]
    assert data["words"] == {"period": "week", "entity": "e", "count": "c", "capacity": "k"}


@pytest.mark.parametrize("noise", ["isotropic", "capacity", "capacity-memory"])
def test_scales_of_a_noise_are_proportional(noise: str) -> None:
    # The page has the half-widths of one level, and a factor for each other.
    low, high = (
        privatize(stream_of(6, 3), noise, mu, seed=1, replicates=1).noise_scale for mu in (1.0, 0.1)
    )
    np.testing.assert_allclose(high, 10.0 * low)


def test_no_name_ends_the_script_or_is_markup() -> None:
    widget = replay_widget(replay(), config(), summary())
    assert widget.count("</script>") == 1
    assert ODD in data_of(replay())["names"]
    assert "<script>alert" not in widget


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
    assert sorted(unseen[:, 2]) == sorted(np.rint(1000 * rows["gain"]))
    told = replay_intro(frame, config(), summary().assign(n_experts=343, n_rounds=250))
    assert "40 of 343 es have a row" in told
    assert "The first 200 of 250 weeks are here." in told


def test_gains_are_gains_and_rounds_without_dates_are_rounds() -> None:
    frame, own = replay(), gains_config()
    assert period_of(own, frame) == "round"
    data = replay_data(frame.assign(gain=9e-7 * frame["gain"]), own, summary())
    assert max(data["truth"]) == 1000
    assert data["words"] == {"period": "round", "entity": "expert", "count": "", "capacity": ""}
    assert period_of(config(), frame.assign(period=pd.NaT)) == "round"


def test_the_page_replays_the_run_in_a_section_that_its_periods_name(folder: Path) -> None:
    found = page(folder)
    assert (
        found.index('id="setting"') < found.index('id="replay"') < found.index('id="average-gain"')
    )
    assert re.search(
        r'id="replay-title">Week by week</h2>\s*<p class="intro">New Mexico, first of', found
    )
    assert found.count('id="replay-data"') == found.count('getElementById("replay-data")') == 1
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src" in found

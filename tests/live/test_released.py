"""Reading what was released: a log and its exports are the same, and bad tables are refused."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

from dpol.core.errors import DataError
from dpol.live.deployment import algorithm_of
from dpol.live.export import export
from dpol.live.released import read_released
from dpol.live.replay import games_before
from weekly import DESIGNED, agreed, collected, released

NAMES = ["A", "B", "C", "D"]


def world(folder, *, memory=False, algorithm="empirical-bayes", weeks=8, **keys):
    """A log with reports that are missing, an entity that comes late, and its deployment."""
    rng = np.random.default_rng(4)
    capacity = np.tile([40.0, 80.0, 120.0, 60.0], (weeks, 1))
    capacity[weeks // 2 :, 1] = 85.0
    counts = np.round(capacity * rng.uniform(0.1, 0.6, (weeks, 4)))
    counts[3, 1] = counts[:4, 3] = np.nan
    kind = {"memory": "designed"} if memory else {}
    deployment = agreed(folder, NAMES, algorithm=algorithm, noise=kind, **keys)
    own = {"memory": DESIGNED if memory else None}
    for _ in released(folder, deployment, counts, capacity, NAMES, **own):
        pass
    return folder / "coordinator", deployment


@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_an_export_is_read_as_its_log(tmp_path, memory, suffix):
    folder, deployment = world(tmp_path, memory=memory)
    table = tmp_path / f"releases.{suffix}"
    assert export(folder, table) == 27
    log, table = (read_released(it, deployment) for it in (folder / "log.sqlite", table))
    assert log.deployment == table.deployment
    apart = {"sha256", "chain", "inputs"}
    for field in (it.name for it in fields(log.panel) if it.name not in apart):
        np.testing.assert_array_equal(getattr(log.panel, field), getattr(table.panel, field), field)
    # The numbers of chains are names; which reports share one is what counts.
    same = [it.panel.chain.ravel()[:, None] == it.panel.chain.ravel() for it in (log, table)]
    np.testing.assert_array_equal(*same)
    choices = [
        [
            ready.choose()
            for ready in games_before(
                it.deployment, algorithm_of(it.deployment), it.panel, range(1, 9)
            )
        ]
        for it in (log, table)
    ]
    assert [it.ranked for it in choices[0]] == [it.ranked for it in choices[1]]
    assert len({it.ranked[0] for it in choices[0]}) > 1
    for one, other in zip(*choices, strict=True):
        np.testing.assert_array_equal(one.share, other.share)
        np.testing.assert_array_equal(one.deviation, other.deviation)


def test_rows_may_stand_in_any_order_and_a_correction_counts(tmp_path):
    deployment = agreed(tmp_path, corrections=True)
    rows = [(name, week, str(5 + week), "20") for name in "ABC" for week in range(3)]
    collected(tmp_path / "s", tmp_path / "in.csv", deployment, rows)
    again = [("A", 1, "9", "20")]
    collected(tmp_path / "s", tmp_path / "in.csv", deployment, again, output="P")
    export(tmp_path / "s", tmp_path / "t.csv")
    frame = pd.read_csv(tmp_path / "t.csv", dtype=str)
    frame.iloc[::-1].to_csv(tmp_path / "t.csv", index=False)
    panel = read_released(tmp_path / "t.csv", deployment).panel
    assert (panel.releases, panel.corrections) == (10, 1)
    assert panel.share[1, 0] == 0.45
    assert panel.spent[1, 0] == 0.5
    log = read_released(tmp_path / "s/log.sqlite", deployment).panel
    np.testing.assert_array_equal(panel.share, log.share)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")
    state, deployment = world(folder)
    export(state, folder / "t.csv")
    return pd.read_csv(folder / "t.csv", dtype=str, keep_default_na=False), deployment


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("entity", "X", "row 4: X is not an entity of the deployment"),
        ("entity", "A ", "row 4: A  is not an entity"),
        ("period", "2021-01-04", "row 4: no period of the deployment starts at '2021-01-04'"),
        ("period", "17.1.2021", "row 4: no period of the deployment starts at '17.1.2021'"),
        ("noisy_share", "0.9", "row 4: the noisy share is not the noisy count over the capacity"),
        ("noisy_share", "nan", "column noisy_share, which needs a number from -1e+12 to 1e+12"),
        ("capacity", "0", "column capacity, which needs a number from 1e-06 to 1e+09"),
        ("mu", "0.7", "row 4: mu is 0.7, larger than agreed (0.5)"),
        ("mu", "0.4", "is not that of mu 0.4"),
        ("count_sensitivity", "0.5", "row 4: the count sensitivity is 0.5, and 1 was agreed"),
        ("a", "x", "'x': 1 cell, first in row 4"),
        ("b", "0.5", "row 4: its noise has a memory, and independent noise was agreed"),
        ("place", "1.5", "column place, which needs a whole number from 1"),
        ("scale", "7", "row 4: its noise, 7 / 10^"),
        ("noise_sd", "0.001", "row 4: noise_sd is 0.001, and scale, a, b and place give 0.0"),
        ("fresh_sd", "0.001", "row 4: fresh_sd is 0.001"),
        ("version", "2", "row 4: version 2 of A in 2021-01-17 is there, and an earlier one is not"),
        ("unit_weeks", "0", "column unit_weeks, which needs a whole number from 1"),
    ],
)
def test_a_bad_cell_is_refused_with_its_row(good, tmp_path, column, value, message):
    frame, deployment = good
    frame = frame.copy()
    frame.loc[2, column] = value
    with pytest.raises(DataError) as caught:
        refused(frame, deployment, tmp_path)
    told = str(caught.value)
    assert told.startswith(str(tmp_path / "t.csv"))
    assert message in told
    assert told.endswith("dpol export, or name its own deployment.")


def refused(frame, deployment, folder):
    frame.to_csv(folder / "t.csv", index=False)
    read_released(folder / "t.csv", deployment)


def test_a_bad_table_is_refused(good, tmp_path):
    frame, deployment = good
    refused(frame, deployment, tmp_path)  # as it is, it is read
    with pytest.raises(
        DataError, match=r"has no column noise_sd, fresh_sd\. Write the table again"
    ):
        refused(frame.drop(columns=["noise_sd", "fresh_sd"]), deployment, tmp_path)
    with pytest.raises(DataError, match=r"row 29: version 1 of A in 2021-01-03 is there 2 times"):
        refused(pd.concat([frame, frame[:1]]), deployment, tmp_path)
    with pytest.raises(DataError, match="row 29: A in 2021-01-03 is there twice, and the deploym"):
        refused(pd.concat([frame, frame[:1].assign(version="2")]), deployment, tmp_path)
    with pytest.raises(DataError, match=r"27 rows cannot be used(.|\n)*and 7 other rows"):
        refused(frame.assign(entity="X"), deployment, tmp_path)
    with pytest.raises(DataError, match="has a header but no rows"):
        refused(frame[:0], deployment, tmp_path)
    with pytest.raises(DataError, match="no such file"):
        read_released(tmp_path / "none.csv", deployment)


def test_a_table_that_excel_saved_again_is_refused_without_keys(good, tmp_path):
    frame, deployment = good
    frame.to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",")
    # dataset.format does not go with released numbers, so that the message must not offer it.
    with pytest.raises(DataError, match="separated by ';', as Excel .* decimal points.$"):
        read_released(tmp_path / "t.csv", deployment)


def test_who_does_not_take_part_or_has_another_capacity_is_refused(good, tmp_path):
    frame, _ = good
    entities = {name: {} for name in NAMES}
    for own, message in (
        ({"since": "2021-01-10"}, "row 2: A does not take part in 2021-01-03"),
        ({"capacity": 41}, "row 2: its capacity is 40, and the deployment says 41"),
    ):
        deployment = agreed(tmp_path, entities | {"A": own})
        with pytest.raises(DataError, match=message):
            refused(frame, deployment, tmp_path)


def test_a_log_of_another_deployment_is_refused(tmp_path):
    state, deployment = world(tmp_path)
    other = agreed(tmp_path / "other", NAMES, mu=0.4)
    with pytest.raises(
        DataError, match="is of another deployment than .*agreed.yaml; name its own"
    ):
        read_released(state / "log.sqlite", other)
    assert read_released(state / "log.sqlite", deployment).panel.releases == 27

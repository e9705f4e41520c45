from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from dpol.core.errors import DataError
from dpol.core.intervals import student_factor
from dpol.core.schemas import read_frame
from dpol.data.settings import Stream
from dpol.privacy.gaussian_dp import epsilon_of_delta
from dpol.privacy.guarantee import NO_PRIVACY
from dpol.studies.hospitals import schema, write_tables
from dpol.studies.hospitals.findings import conclude
from dpol.studies.hospitals.runs import Played, RunBlock
from dpol.studies.hospitals.settings import Report
from dpol.studies.hospitals.summary import (
    BEST_STATIC,
    Cell,
    collect_cells,
    count_comparisons,
    cumulative_curves,
    summarize,
)

LEVELS = {"none": math.inf, "high": 0.5}
GAINS = [[1.0, 0.0], [0.0, 0.5], [0.0, 1.0]]


def played(gains, label="a", family="fam", origin="paper", mu=0.4):
    gains = np.asarray(gains, dtype=float)
    guarantee = dataclasses.replace(
        NO_PRIVACY, mechanism="noise", mu=mu, model="local", sampler="seeded", sensitivity=0.3
    )
    return Played(label, family, origin, guarantee, np.zeros(gains.shape, np.int32), gains)


def block(replicates, *runs, stream="test", noise="isotropic", mu=0.5):
    return RunBlock(stream, noise, mu, tuple(replicates), runs)


def cell(gains, *, stream="test", noise="isotropic", mu=0.5, **about):
    return Cell(stream, noise, mu, played(gains, **about))


@pytest.fixture(scope="module")
def streams(make_stream):
    return {
        "test": make_stream(GAINS, provenance={"simulated": True}),
        "other": make_stream([[0.5, 0.25]], label="other"),
    }


TOGETHER = {"confidence": 0.95, "comparisons": 3}


def summary_of(cells, streams, delta=1e-6):
    return summarize(cells, streams, levels=LEVELS, delta=delta, **TOGETHER)


# --- Collecting ---


def test_blocks_are_joined_in_the_order_of_their_replicates():
    blocks = [block((r,), played([[float(r)]])) for r in (10, 9, 2, 1, 0, 3, 4, 5, 6, 7, 8)]
    (joined,) = collect_cells(blocks)
    assert joined.gains.ravel().tolist() == list(range(11))
    assert (joined.stream, joined.noise, joined.mu) == ("test", "isotropic", 0.5)


def test_a_cell_holds_actions_and_gains_of_all_blocks():
    first, second = (
        dataclasses.replace(played([[r, r], [r, r]]), actions=np.full((2, 2), r, dtype=np.int32))
        for r in (0, 1)
    )
    (joined,) = collect_cells([block((2, 3), second), block((0, 1), first)])
    expected = [[0, 0], [0, 0], [1, 1], [1, 1]]
    assert joined.played.actions.tolist() == expected
    assert joined.played.gains.tolist() == expected
    assert joined.gains is joined.played.gains
    assert joined.played.actions.dtype == np.int32


def test_every_setting_and_algorithm_is_a_cell():
    one, two = played([[1.0]]), played([[1.0]], label="b")
    blocks = [
        block((0,), one, two),
        block((0,), one, mu=math.inf),
        block((0,), one, noise="capacity"),
        block((0,), one, stream="other"),
    ]
    assert len(collect_cells(iter(blocks))) == 5


@pytest.mark.parametrize("numbers", [[(0,), (2,)], [(0, 1), (1, 2)], [(1,), (2,)], [(0,), (0,)]])
def test_missing_and_repeated_replicates_are_refused(numbers):
    blocks = [block(own, played([[0.0]] * len(own))) for own in numbers]
    with pytest.raises(ValueError, match=r"test, a, mu 0.5: replicates .* are not 0, 1, 2"):
        collect_cells(blocks)


# --- Comparisons ---


def test_comparisons_are_the_shown_algorithms_and_the_whole_envelope():
    cells = [
        cell([[0.0]], stream=stream, mu=mu, label=label, family=family)
        for stream in ("test", "other")
        for mu in LEVELS.values()
        for label, family in [
            ("shown", "x"),
            ("hidden", "x"),
            ("ridge-a", "ridge"),
            ("ridge-b", "ridge"),
        ]
    ]
    assert count_comparisons(cells, ["shown"], "ridge") == 4 * 3
    assert count_comparisons(cells, ["shown", "ridge-a"], "ridge") == 4 * 3
    assert count_comparisons(cells, ["shown"], "none") == 4
    assert count_comparisons([], ["shown"], "ridge") == 0


# --- The summary ---


def test_scores_by_hand(streams):
    # Expert 1 has 1.5 in hindsight; totals 2 and 1.
    row = summary_of([cell([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])], streams).iloc[0]
    assert row["replicates"] == 2
    assert row["mean_gain"] == 1.5
    assert row["std_gain"] == pytest.approx(math.sqrt(0.5))
    factor = student_factor(0.95, 3, 2)
    assert row["ci_half_width"] == pytest.approx(factor * math.sqrt(0.5 / 2))
    assert row["best_static_gain"] == 1.5
    assert row["static_regret"] == 0.0
    assert (row["confidence"], row["ci_comparisons"]) == (0.95, 3)


def test_scores_of_one_replicate_and_of_equal_ones(streams):
    cells = [cell([[1.0, 0.5, 1.0]]), cell([[0.1, 0.0, 0.1]] * 3)]
    rows = summary_of(cells, streams)
    assert rows["static_regret"].tolist() == pytest.approx([-1.0, 1.3])
    assert rows["replicates"].tolist() == [1, 3]
    assert rows["ci_half_width"].tolist() == [math.inf, 0.0]
    assert rows["std_gain"].isna().tolist() == [True, False]


def test_facts_of_the_stream(streams):
    rows = summary_of([cell([[0.0] * 3]), cell([[0.5]], stream="other")], streams)
    assert rows["stream"].tolist() == ["test", "other"]
    assert rows["n_experts"].tolist() == [2, 2]
    assert rows["n_rounds"].tolist() == [3, 1]
    assert rows["simulated"].tolist() == [True, False]
    assert rows["best_static_gain"].tolist() == [1.5, 0.5]
    assert [str(day)[:10] for day in rows["first_period"]] == ["2020-01-05"] * 2
    assert [str(day)[:10] for day in rows["last_period"]] == ["2020-01-19", "2020-01-05"]


def test_rounds_without_dates_have_none(make_stream):
    streams = {"test": make_stream(GAINS, provenance={"undated": True})}
    found = cell([[0.0] * 3])
    rows = summary_of([found], streams)
    assert rows[["first_period", "last_period"]].isna().all(axis=None)
    curves = cumulative_curves([found], streams, levels=LEVELS, **TOGETHER)
    assert curves["period"].isna().all()
    assert curves["round"].tolist() == [1, 2, 3] * 2


def test_facts_of_the_setting(streams):
    cells = [cell([[0.0] * 3], label="x", family="y"), cell([[0.0] * 3], mu=math.inf)]
    rows = summary_of(cells, streams)
    assert rows["level"].tolist() == ["high", "none"]
    assert rows["mu"].tolist() == [0.5, math.inf]
    assert rows.loc[0, ["algorithm", "family", "noise"]].tolist() == ["x", "y", "isotropic"]


def test_the_privacy_is_that_of_the_guarantee_not_the_level_asked_for(streams):
    cells = [cell([[0.0] * 3], mu=0.5), cell([[0.0] * 3])]
    cells[1] = dataclasses.replace(cells[1], played=played([[0.0] * 3], mu=math.inf))
    rows = summary_of(cells, streams, delta=1e-5)
    assert rows["guaranteed_mu"].tolist() == [0.4, math.inf]
    assert rows["epsilon"].tolist() == [epsilon_of_delta(1e-5, 0.4), math.inf]
    assert set(rows["delta"]) == {1e-5}
    first = rows.iloc[0]
    facts = cells[0].played.guarantee.as_dict()
    assert facts.pop("epsilon_delta") is None
    for name, value in facts.items():
        assert first["guaranteed_mu" if name == "mu" else name] == value


@pytest.mark.parametrize(
    ("origin", "noise", "ours"),
    [
        ("paper", "isotropic", False),
        ("standard", "isotropic", False),
        ("ours", "isotropic", True),
        ("paper", "capacity", True),
    ],
)
def test_what_is_ours(streams, origin, noise, ours):
    rows = summary_of([cell([[0.0] * 3], origin=origin, noise=noise)], streams)
    assert rows["ours"].tolist() == [ours]


# --- Curves ---


@pytest.fixture
def curves(streams):
    cells = [cell([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]), cell([[0.5]], stream="other", mu=math.inf)]
    return cumulative_curves(cells, streams, levels=LEVELS, **TOGETHER)


def test_a_curve_by_hand(curves):
    curve = curves[curves["algorithm"] == "a"].iloc[:3]
    assert curve["round"].tolist() == [1, 2, 3]
    assert curve["mean_cumulative_gain"].tolist() == [0.5, 0.5, 1.5]
    np.testing.assert_allclose(curve["ci_half_width"], 0.5 * student_factor(0.95, 3, 2))
    assert set(curve["level"]) == {"high"}
    assert [str(day)[:10] for day in curve["period"]] == ["2020-01-05", "2020-01-12", "2020-01-19"]


def test_the_curve_of_the_best_static_expert(curves):
    curve = curves[(curves["algorithm"] == BEST_STATIC) & (curves["stream"] == "test")]
    assert curve["mean_cumulative_gain"].tolist() == [0.0, 0.5, 1.5]
    assert (curve["ci_half_width"] == 0).all()
    assert curve["mu"].isna().all()
    assert (curves["algorithm"] == BEST_STATIC).sum() == 4


def test_curves_end_at_the_summary(streams):
    rng = np.random.default_rng(0)
    cells = [cell(rng.random((20, 3)))]
    last = cumulative_curves(cells, streams, levels=LEVELS, **TOGETHER).iloc[-1]
    row = summary_of(cells, streams).iloc[0]
    assert last["mean_cumulative_gain"] == pytest.approx(row["mean_gain"])
    assert last["ci_half_width"] == pytest.approx(row["ci_half_width"])


def test_tables_are_what_their_schemas_say(streams, curves):
    together = conclude(
        summary_of([cell([[0.0] * 3]), cell([[0.0] * 3], mu=math.inf)], streams),
        {"test": Stream(groups=["G"])},
        Report(algorithms=["a"]),
    )
    for name, frame in {"summary": together, "cumulative": curves}.items():
        pd.testing.assert_frame_equal(schema(name).check(frame, "here"), frame)


def test_a_table_that_its_schema_refuses_is_not_written(curves, tmp_path):
    path = tmp_path / "cumulative.parquet"
    with pytest.raises(DataError, match="hospitals: cumulative: lacks column mu"):
        write_tables({"cumulative": curves.drop(columns="mu")}, {"cumulative": str(path)})
    assert not path.exists()
    write_tables({"cumulative": curves}, {"cumulative": str(path)})
    pd.testing.assert_frame_equal(read_frame(path, schema("cumulative")), curves)

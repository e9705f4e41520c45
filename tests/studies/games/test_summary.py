"""Summary and curves of runs, computed by hand."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from dpol.core.errors import DataError
from dpol.core.intervals import student_factor
from dpol.core.schemas import read_frame, write_frame
from dpol.data.stream import write_stream
from dpol.privacy.gaussian_dp import epsilon_of_delta
from dpol.privacy.guarantee import NO_PRIVACY
from dpol.studies.games.scores import Played, RunBlock, scores_of, tables_of
from dpol.studies.games.settings import Games, Report
from dpol.studies.games.study import STUDY
from dpol.studies.games.summary import (
    BEST_FIXED,
    ORACLE,
    UNIFORM,
    count_comparisons,
    cumulative_curves,
    schema,
    summarize,
)
from dpol.studies.jobs import write_results
from dpol.studies.study import Facts

LEVELS = {"none": math.inf, "high": 0.5}
MAIN = Games(report=Report(algorithms=["a"]))
FACTS = Facts(
    {"test": "Test"},
    simulated=True,
    confidence=0.95,
    levels=LEVELS,
    reported={"test": None, "other": None},
)
GAINS = [[1.0, 0.0], [0.0, 0.5], [0.0, 1.0]]


def cell(*of, **facts):
    runs = runs_of(*of, **facts)
    return scores_of(runs, range(len(runs.gains)), np.ones(runs.gains.shape[1]))


def runs_of(gains, mu=0.5, guaranteed=0.4, **facts):
    gains = np.asarray(gains, dtype=float)
    guarantee = dataclasses.replace(
        NO_PRIVACY,
        mechanism="noise",
        mu=guaranteed,
        model="local",
        sampler="seeded",
        sensitivity=0.3,
    )
    about = {"stream": "test", "noise": "isotropic", "label": "a", "family": "fam"}
    about |= {"origin": "paper", "actions": np.zeros(gains.shape, np.int32)} | facts
    return Played(mu=mu, guarantee=guarantee, gains=gains, **about)


@pytest.fixture(scope="module")
def streams(make_stream):
    return {
        "test": make_stream(GAINS, provenance={"simulated": True}),
        "other": make_stream([[0.5, 0.25]], label="other"),
    }


def summary_of(cells, streams, delta=1e-6):
    return summarize(cells, streams, MAIN, dataclasses.replace(FACTS, delta=delta))


def test_equal_replicates_are_marked_where_there_is_noise(streams):
    same, other = [[1.0, 0.5, 1.0]] * 2, [[1.0, 0.5, 1.0], [0.5, 1.0, 1.0]]
    cells = [cell(same), cell(other), cell(same, mu=math.inf), cell(same[:1])]
    assert summary_of(cells, streams)["unmoved"].tolist() == [True, False, False, False]


def test_comparisons_count_the_shown_algorithms_and_the_whole_envelope():
    about = {"shown": "x", "hidden": "x", "ridge-a": "ridge", "ridge-b": "ridge"}
    cells = [
        cell([[0.0]], stream=stream, mu=mu, label=label, family=family)
        for stream in ("test", "other")
        for mu in LEVELS.values()
        for label, family in about.items()
    ]
    for count, algorithms, envelope in [
        (4 * 3, ["shown"], "ridge"),
        (4 * 3, ["shown", "ridge-a"], "ridge"),
        (4, ["shown"], "none"),
    ]:
        main = Games(report=Report(algorithms=algorithms, envelope=envelope))
        assert count_comparisons(cells, main, FACTS) == count
        assert count_comparisons([], main, FACTS) == 0


def test_comparisons_count_the_cells_of_table_2_where_a_run_plays_it():
    """One linear model of twelve is enough here; the others have no cell."""
    labels = ("rw-meta", "tree-ftpl-min-noise", "tree-ftpl-min-regret", "ridge-w8-weak", "other")
    cells = [
        cell([[0.0]], label=label, family=label, noise=noise)
        for label in labels
        for noise in ("isotropic", "capacity")
    ]
    trees = ["tree-ftpl-min-noise", "tree-ftpl-min-regret"]
    suites = {"local": {"algorithms": ["rw-meta", "ridge"]}, "central": {"algorithms": trees}}
    several = dataclasses.replace(FACTS, questions={"one": "One", "two": "Two"})
    report = Report(algorithms=["rw-meta"], envelope=None)
    for played, facts, count in [
        (suites, FACTS, 5),  # rw-meta with both noises, the others with isotropic noise
        (suites, several, 2),
        ({"local": suites["local"]}, FACTS, 2),
    ]:
        assert count_comparisons(cells, Games(report=report, suites=played), facts) == count


# --- The summary ---


def test_scores_by_hand(streams):
    # The best fixed expert has 1.5; the totals are 2 and 1.
    rows = summary_of([cell([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])] * 3, streams)
    row = rows.iloc[0]
    assert (row["replicates"], row["mean_gain"]) == (2, 1.5)
    assert row["std_gain"] == pytest.approx(math.sqrt(0.5))
    assert row["ci_half_width"] == pytest.approx(student_factor(0.95, 3, 2) * math.sqrt(0.5 / 2))
    assert (row["best_fixed_gain"], row["static_regret"]) == (1.5, 0.0)
    assert (row["confidence"], row["ci_comparisons"]) == (0.95, 3)
    # It named an expert with a gain of 1 in two rounds of three, and in one.
    assert row["named_right"] == pytest.approx(0.5)
    half = student_factor(0.95, 3, 2) * math.sqrt(1 / 18 / 2)
    assert row["named_right_half_width"] == pytest.approx(half)


def test_scores_of_one_replicate_and_of_equal_ones(streams):
    rows = summary_of([cell([[1.0, 0.5, 1.0]]), cell([[0.1, 0.0, 0.1]] * 3)], streams)
    assert rows["static_regret"].tolist() == pytest.approx([-1.0, 1.3])
    assert rows["replicates"].tolist() == [1, 3]
    assert rows["ci_half_width"].tolist() == [math.inf, 0.0]
    assert rows["std_gain"].isna().tolist() == [True, False]


def test_facts_of_the_stream_and_of_the_setting(streams):
    one = cell([[0.0] * 3], label="x", family="y")
    rows = summary_of([one, cell([[0.5]], stream="other", mu=math.inf)], streams)
    expected = {
        "stream": ["test", "other"],
        "n_experts": [2, 2],
        "n_rounds": [3, 1],
        "simulated": [True, False],
        "uniform_gain": [1.25, 0.375],
        "best_fixed_gain": [1.5, 0.5],
        "oracle_gain": [2.5, 0.5],
        "level": ["high", "none"],
        "mu": [0.5, math.inf],
        "algorithm": ["x", "a"],
        "family": ["y", "fam"],
        "noise": ["isotropic"] * 2,
    }
    assert rows[list(expected)].to_dict("list") == expected
    assert [str(day)[:10] for day in rows["first_period"]] == ["2020-01-05"] * 2
    assert [str(day)[:10] for day in rows["last_period"]] == ["2020-01-19", "2020-01-05"]


def test_rounds_without_dates_have_none(make_stream):
    streams = {"test": make_stream(GAINS, provenance={"undated": True})}
    played = cell([[0.0] * 3])
    rows = summary_of([played], streams)
    assert rows[["first_period", "last_period"]].isna().all(axis=None)
    curves = cumulative_curves([played], streams, MAIN, FACTS)
    assert curves["period"].isna().all()
    assert curves["round"].tolist() == [1, 2, 3] * 4


def test_privacy_is_the_guarantee_not_the_requested_level(streams):
    cells = [cell([[0.0] * 3], guaranteed=mu) for mu in (0.4, math.inf)]
    guarantee = cells[0].guarantee.as_dict()
    rows = summary_of(cells, streams, delta=1e-5)
    assert rows["guaranteed_mu"].tolist() == [0.4, math.inf]
    assert rows["epsilon"].tolist() == [epsilon_of_delta(1e-5, 0.4), math.inf]
    assert set(rows["delta"]) == {1e-5}
    assert guarantee.pop("epsilon_delta") is None
    stays = guarantee.pop("stays")
    for name, value in guarantee.items():
        assert rows.iloc[0]["guaranteed_mu" if name == "mu" else name] == value
    weeks = ["mu_1_week", "mu_2_weeks", "mu_4_weeks", "mu_8_weeks"]
    assert rows.loc[0, weeks].tolist() == stays


def test_the_noise_on_a_count_is_the_median_of_all_entities(make_stream):
    """At mu = 0.5, isotropic noise is 2 sqrt(2) on the count of the smallest entity."""
    streams = {"test": make_stream(np.zeros((1, 3)), [10.0, 20.0, 50.0])}
    cells = [cell([[0.0]], noise=noise) for noise in ("isotropic", "capacity", "capacity-memory")]
    cells.append(cell([[0.0]], mu=math.inf))
    count_noise = summary_of(cells, streams)["count_noise"]
    expected = [4 * math.sqrt(2), 2 * math.sqrt(2), math.nan, math.nan]
    np.testing.assert_allclose(count_noise, expected)


@pytest.mark.parametrize("known", [True, False])
def test_columns_of_longer_stays_and_carrying_may_be_empty(streams, known):
    played = cell([[0.0] * 3])
    facts = {"stays": (0.4, 0.5, 0.6, 0.7), "carried": (3, 0.65)}
    record = dataclasses.replace(played.guarantee, **facts if known else dict.fromkeys(facts))
    rows = summary_of([dataclasses.replace(played, guarantee=record)], streams)
    columns = ["mu_1_week", "mu_2_weeks", "mu_4_weeks", "mu_8_weeks", "carried_weeks", "mu_carried"]
    if known:
        assert rows.loc[0, columns].tolist() == [0.4, 0.5, 0.6, 0.7, 3, 0.65]
    else:
        assert rows[columns].isna().all(axis=None)


@pytest.mark.parametrize(
    ("origin", "noise", "ours"),
    [
        ("paper", "isotropic", False),
        ("standard", "isotropic", False),
        ("ours", "isotropic", True),
        ("paper", "capacity", True),
    ],
)
def test_a_row_is_ours_if_its_algorithm_or_noise_is(streams, origin, noise, ours):
    rows = summary_of([cell([[0.0] * 3], origin=origin, noise=noise)], streams)
    assert rows["ours"].tolist() == [ours]


# --- Curves ---


@pytest.fixture
def curves(streams):
    cells = [cell([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]), cell([[0.5]], stream="other", mu=math.inf)]
    return cumulative_curves(cells, streams, MAIN, FACTS)


def test_a_curve_by_hand(curves):
    curve = curves[curves["algorithm"] == "a"].iloc[:3]
    assert curve["round"].tolist() == [1, 2, 3]
    assert curve["mean_cumulative_gain"].tolist() == [0.5, 0.5, 1.5]
    np.testing.assert_allclose(curve["ci_half_width"], 0.5 * student_factor(0.95, 2, 2))
    assert set(curve["level"]) == {"high"}
    assert [str(day)[:10] for day in curve["period"]] == ["2020-01-05", "2020-01-12", "2020-01-19"]


@pytest.mark.parametrize(
    ("label", "gains"),
    [
        (BEST_FIXED, [0.0, 0.5, 1.5]),
        (UNIFORM, [0.5, 0.75, 1.25]),
        (ORACLE, [1.0, 1.5, 2.5]),
    ],
)
def test_curves_of_the_references(curves, label, gains):
    best = curves[curves["algorithm"] == label]
    curve = best[best["stream"] == "test"]
    assert curve["mean_cumulative_gain"].tolist() == gains
    assert (curve["ci_half_width"] == 0).all()
    assert curve["mu"].isna().all()
    assert len(best) == 4


# --- Files ---


def test_a_table_is_written_only_if_it_matches_its_schema(streams, tmp_path, monkeypatch):
    stream = tmp_path / "stream.parquet"
    played = (runs_of([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]),)
    block = RunBlock(replicates=(0, 1), played=played, best=np.ones(3))
    inputs = {"stream": [str(stream)]}
    for name, table in tables_of(block).items():
        inputs[name] = [str(tmp_path / f"scores/{name}.parquet")]
        write_frame(table, *inputs[name])
    write_stream(streams["test"], stream)
    settings, facts = MAIN.model_dump(mode="json"), dataclasses.replace(FACTS, replayed=True)
    paths = {name: tmp_path / f"{name}.parquet" for name in ("summary", "cumulative", "replay")}
    write_results(STUDY.package, settings, facts, inputs=inputs, files=paths)
    summary, curves, replay = (read_frame(path, schema(name)) for name, path in paths.items())
    assert summary["mean_gain"].tolist() == [1.5]
    assert set(replay["stream"]) == {"test"}
    assert summary["gain_share"].tolist() == pytest.approx([(1.5 - 1.25) / (2.5 - 1.25)])
    assert curves["mean_cumulative_gain"].tolist()[-3:] == [0.5, 0.5, 1.5]
    paths["summary"].unlink()
    monkeypatch.setattr("dpol.studies.games.collect.conclude", lambda found: found)
    with pytest.raises(DataError, match="games: summary: lacks column best_fixed_share"):
        write_results(STUDY.package, settings, facts, inputs=inputs, files=paths)
    assert not paths["summary"].exists()

"""Result tables of games, computed by hand."""

from __future__ import annotations

import dataclasses
import math
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import ArrayLike

from dpol.core.errors import DataError
from dpol.core.intervals import half_width, half_width_of, student_factor
from dpol.core.schemas import read_frame, write_frame
from dpol.data.stream import write_stream
from dpol.privacy.gaussian_dp import epsilon_of_delta
from dpol.privacy.guarantee import NO_PRIVACY
from dpol.privacy.losses import Loss, pure
from dpol.studies.games.collect import (
    cumulative_curves,
    results_from,
    schema,
    summarize,
    switching_gains,
)
from dpol.studies.games.names import BEST_FIXED, ORACLE, UNIFORM
from dpol.studies.games.scores import Played, score_tables
from dpol.studies.games.settings import GamesSettings, Report
from dpol.studies.games.study import STUDY
from dpol.studies.jobs import write_results
from dpol.studies.study import Facts
from game_tables import joined, suite
from replays import stream_of
from tables_by_hand import run, summary

LEVELS = math.inf, 0.5
MAIN = GamesSettings(report=Report(algorithms=["a"]))
FACTS = Facts(
    {"nm": "NM"},
    simulated=True,
    confidence=0.95,
    levels=LEVELS,
    reported={"nm": None, "other": None},
)
GAINS = [[1.0, 0.0], [0.0, 0.5], [0.0, 1.0]]


def runs(gains: ArrayLike, *, guaranteed: float = 0.4, best: float = 1.0, **about: Any) -> Played:
    """Return local runs with these gains of the actions, by replicate and round.

    `best` is the largest gain of every round.
    """
    made = np.asarray(gains, dtype=float)
    about = {"stream": "nm", "label": "a", "noise": "isotropic", "mu": 0.5} | about
    guarantee = dataclasses.replace(
        NO_PRIVACY,
        mechanism=f"{about['noise']} noise",
        loss=Loss(gaussian=guaranteed),
        model="local",
        sensitivity=0.5,
    )
    facts: dict[str, Any] = {"family": about["label"], "origin": "paper"} | about
    actions = made.astype(np.int32)
    facts |= {"replicates": range(len(made)), "best": np.full(made.shape[1], best)}
    return Played(guarantee=guarantee, actions=actions, gains=made, **facts)


@pytest.fixture(scope="module")
def streams(make_stream):
    return {
        "nm": make_stream(GAINS, label="nm", provenance={"simulated": True}),
        "other": make_stream([[0.5, 0.25]], label="other"),
    }


def summary_of(played, streams, main=MAIN, **facts):
    scores, cells = joined([it] for it in played)
    return summarize(cells, scores, streams, main, dataclasses.replace(FACTS, **facts))


@pytest.mark.parametrize("shown", [["rw-meta"], ["rw-meta", "ridge-w8-weak"]])
def test_comparisons_count_what_is_shown_all_linear_models_and_table_2(streams, shown):
    """With both noises, and where a run plays the table, its trees with the paper's noise."""
    trees = ("tree-ftpl-min-noise", "tree-ftpl-min-regret")
    families = dict.fromkeys(("rw-meta", *trees), "x") | {"ridge-w8-weak": "ridge"}
    played = [
        runs([[0.0]], stream=stream, label=label, family=family, noise=noise, column=column)
        for stream in ("nm", "other")
        for label, family in families.items()
        for noise, column in (("isotropic", label), ("capacity", ""))
    ]
    report, several = Report(algorithms=shown), {"one": "One", "two": "Two"}
    for plays, questions, count in [(True, {}, 12), (True, several, 8), (False, {}, 8)]:
        main = GamesSettings(report=report, plays_table_2=plays)
        rows = summary_of(played, streams, main, questions=questions)
        assert set(rows["ci_comparisons"]) == {count}


# --- The summary ---


def test_scores_by_hand(streams):
    # The best fixed expert has 1.5; the totals are 2 and 1.
    gains = [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    rows = summary_of([runs(gains, noise=noise) for noise in ("isotropic", "x", "y")], streams)
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
    played = [runs([[1.0, 0.5, 1.0]]), runs([[0.1, 0.0, 0.1]] * 3, label="b")]
    rows = summary_of(played, streams)
    assert rows["static_regret"].tolist() == pytest.approx([-1.0, 1.3])
    assert rows["replicates"].tolist() == [1, 3]
    assert rows["ci_half_width"].tolist() == [math.inf, 0.0]
    assert rows["std_gain"].isna().tolist() == [True, False]


def test_facts_of_the_stream_and_of_the_setting(streams):
    other = runs([[0.5]], stream="other", mu=math.inf)
    rows = summary_of([runs([[0.0] * 3]), other], streams)
    expected = {
        "stream": ["nm", "other"],
        "n_experts": [2, 2],
        "n_rounds": [3, 1],
        "simulated": [True, False],
        "uniform_gain": [1.25, 0.375],
        "best_fixed_gain": [1.5, 0.5],
        "oracle_gain": [2.5, 0.5],
        "level": ["mu-0.5", "mu-inf"],
        "sees": ["noisy"] * 2,
    }
    assert rows[list(expected)].to_dict("list") == expected
    assert [str(day)[:10] for day in rows["first_period"]] == ["2020-01-05"] * 2
    assert [str(day)[:10] for day in rows["last_period"]] == ["2020-01-19", "2020-01-05"]


def test_rounds_without_dates_have_none(make_stream):
    streams = {"nm": make_stream(GAINS, label="nm", provenance={"undated": True})}
    rows = summary_of([runs([[0.0] * 3])], streams)
    assert rows[["first_period", "last_period"]].isna().all(axis=None)
    curves = curves_of([runs([[0.0] * 3])], streams)
    assert curves["period"].isna().all()
    assert curves["round"].tolist() == [1, 2, 3] * 4


def test_privacy_is_the_guarantee_not_the_requested_level(streams):
    played = [runs([[0.0] * 3], guaranteed=mu, label=f"{mu}") for mu in (0.4, math.inf)]
    rows = summary_of(played, streams, delta=1e-5)
    assert rows["guaranteed_mu"].tolist() == [0.4, math.inf]
    assert rows["keeps_level"].tolist() == [True, False]
    assert rows["epsilon"].tolist() == [epsilon_of_delta(1e-5, 0.4), math.inf]
    assert set(rows["delta"]) == {1e-5}
    known = {name: value for name, value in played[0].guarantee.as_row().items() if value == value}
    assert rows.loc[0, list(known)].to_dict() == known


@pytest.mark.parametrize(("least", "epsilon"), [(1e-7, 0.9), (1e-6, 0.9), (1e-4, math.inf)])
def test_a_guarantee_that_is_not_gaussian_has_its_epsilon_from_its_delta_on(
    streams, least, epsilon
):
    played = runs([[0.0] * 3])
    other = dataclasses.replace(played.guarantee, loss=pure(0.9, least))
    rows = summary_of([dataclasses.replace(played, guarantee=other)], streams)
    assert rows["epsilon"].tolist() == [pytest.approx(epsilon, rel=1e-4)]


def test_a_row_says_where_its_algorithm_comes_from(streams):
    origins = ["paper", "standard", "dpol", "other"]
    played = [runs([[0.0] * 3], label=it, origin=it) for it in origins]
    assert summary_of(played, streams)["origin"].tolist() == origins


# --- Curves ---


def curves_of(played, streams):
    return cumulative_curves(summary_of(played, streams), streams)


def test_a_curve_and_those_of_the_references_by_hand(streams):
    played = [runs([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]), runs([[0.5]], stream="other", mu=math.inf)]
    curves = curves_of(played, streams)
    curve = curves[curves["algorithm"] == "a"].iloc[:3]
    assert curve["round"].tolist() == [1, 2, 3]
    assert curve["mean_cumulative_gain"].tolist() == [0.5, 0.5, 1.5]
    np.testing.assert_allclose(curve["ci_half_width"], 0.5 * student_factor(0.95, 2, 2))
    assert set(curve["level"]) == {"mu-0.5"}
    assert [str(day)[:10] for day in curve["period"]] == ["2020-01-05", "2020-01-12", "2020-01-19"]
    references = {BEST_FIXED: [0.0, 0.5, 1.5], UNIFORM: [0.5, 0.75, 1.25], ORACLE: [1.0, 1.5, 2.5]}
    for label, gains in references.items():
        own = curves[curves["algorithm"] == label]
        assert own.loc[own["stream"] == "nm", "mean_cumulative_gain"].tolist() == gains
        assert (own["ci_half_width"] == 0).all()
        assert own["mu"].isna().all()
        assert len(own) == 4


# --- Files ---


def test_a_table_is_written_only_if_it_matches_its_schema(streams, tmp_path, monkeypatch):
    stream = tmp_path / "stream.parquet"
    played = [runs([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])]
    inputs = {"stream": [str(stream)]}
    for name, table in score_tables(played, "local").items():
        inputs[name] = [str(tmp_path / f"scores/{name}.parquet")]
        write_frame(table, *inputs[name])
    write_stream(streams["nm"], stream)
    settings, facts = MAIN.model_dump(mode="json"), dataclasses.replace(FACTS, replayed=True)
    paths = {name: tmp_path / f"{name}.parquet" for name in STUDY.results}
    write_results(STUDY.package, settings, facts, inputs=inputs, files=paths)
    read = {name: read_frame(path, schema(name)) for name, path in paths.items()}
    assert read["summary"]["gain_share"].tolist() == pytest.approx([(1.5 - 1.25) / (2.5 - 1.25)])
    paths["summary"].unlink()
    monkeypatch.setattr("dpol.studies.games.collect.conclude", lambda found: found)
    with pytest.raises(DataError, match="games: summary: lacks column best_fixed_share"):
        write_results(STUDY.package, settings, facts, inputs=inputs, files=paths)
    assert not paths["summary"].exists()


# ---- scores by replicate and round ---------------------------------------------------------------


def one(gains: Any, **about: Any) -> tuple[pd.DataFrame, pd.Series]:
    """Return the scores and the row of the only cell, of runs with these gains."""
    scores, cells = joined([[runs(gains, **about)]])
    (place,) = cells.index
    return scores, cells.loc[place]


ANY_GAINS = arrays(
    float,
    st.tuples(st.integers(2, 7), st.integers(1, 5)),
    elements=st.floats(0, 1, width=16),
)


@given(ANY_GAINS)
def test_scores_and_half_widths_are_those_of_all_rounds(gains) -> None:
    best = gains.max()
    (scores, cell), running = one(gains, best=best), gains.cumsum(axis=1)
    np.testing.assert_array_equal(scores["total_gain"], gains.sum(axis=1))
    np.testing.assert_array_equal(scores["hits"], (gains == best).sum(axis=1))
    np.testing.assert_allclose(cell["mean_cumulative_gain"], running.mean(axis=0), rtol=1e-14)
    half = half_width_of(cell["squared_deviations"], len(gains), 0.9, 3)
    np.testing.assert_allclose(half, half_width(running, 0.9, 3), atol=1e-14)


@given(st.floats(0, 1), st.integers(2, 60))
def test_equal_replicates_have_width_0(gain, size) -> None:
    _, cell = one(np.full((size, 4), gain))
    assert cell["squared_deviations"].tolist() == [0.0] * 4


# ---- what follows from a summary -----------------------------------------------------------------

# --- Shares ---

SHARES = ["best_fixed_share", "gain_share", "gain_share_half_width"]


def test_shares_are_empty_where_every_choice_gains_the_same() -> None:
    """A rounding error of the mean, over nothing that can be gained, is no share."""
    same = dict.fromkeys(("uniform_gain", "best_fixed_gain", "oracle_gain"), 30.0)
    row = summary([run("rw-meta", 1.0, 30.0 + 1e-12, **same)]).iloc[0]
    assert row[SHARES].isna().all()


def test_shares_are_of_what_can_be_gained_above_uniform_choices() -> None:
    gains = {"uniform_gain": 10.0, "best_fixed_gain": 25.0, "oracle_gain": 40.0}
    row = summary([run("rw-meta", 1.0, 16.0, ci_half_width=1.5, **gains)]).iloc[0]
    assert row[SHARES].tolist() == pytest.approx([0.5, 0.2, 0.05])


# --- Gains of the best sequences, beside all sequences of small games ---

gains_of = st.tuples(st.integers(1, 6), st.integers(1, 3)).flatmap(
    lambda shape: arrays(float, shape, elements=st.integers(-4, 9).map(float))
)


@given(gains_of)
def test_every_sequence_was_tried(gains):
    T, n = gains.shape
    best = np.full(T + 3, -np.inf)  # more switches than rounds add nothing
    for sequence in product(range(n), repeat=T):
        switches = sum(one != two for one, two in pairwise(sequence))
        best[switches:] = np.maximum(best[switches:], gains[np.arange(T), sequence].sum())
    np.testing.assert_array_equal(switching_gains(gains, T + 2), best)


# --- Blocks of replicates ---


def test_blocks_of_replicates_give_the_results_of_all_replicates_at_once() -> None:
    """Jobs of blocks come by level; results keep the order of noises."""
    algorithms, noises, levels = ["rw-ftpl", "persistence"], ["isotropic", "capacity"], (1.0, 0.5)
    suites = {"local": {"noises": noises, "algorithms": algorithms}}
    main = GamesSettings(suites=suites, report=Report(algorithms=algorithms))
    streams = {"a": stream_of(12, 4, "a")}
    facts = Facts({"a": "a"}, True, 0.95, levels=levels, replayed=True)

    def played(noise: str, mu: float, block: range):
        return suite(streams["a"], algorithms, noise=noise, mu=mu, replicates=block)

    blocks = product(levels, (range(100), range(100, 200)), noises)
    parts = joined(played(noise, mu, block) for mu, block, noise in blocks)
    made = dict(results_from(*parts, streams, main, facts))
    whole = joined(played(noise, mu, range(200)) for noise, mu in product(noises, levels))
    expected = dict(results_from(*whole, streams, main, facts))
    assert made.keys() == {"summary", "totals", "cumulative", "switches", "replay"}
    for name, frame in expected.items():
        near = {"rtol": 0, "atol": 1e-12} if name == "cumulative" else {"check_exact": True}
        pd.testing.assert_frame_equal(made[name], frame, **near)

"""Ours against every other row, by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from comparison_by_hand import COMPARISON, INF, LEVELS, OURS, PAPER, cell, cells
from dpol.core.intervals import student_factor
from dpol.studies.hospitals import schema
from dpol.studies.hospitals.comparison import compare
from dpol.studies.hospitals.settings import Comparison


def table(found=None, comparison=COMPARISON, levels=LEVELS, confidence=0.95):
    found = cells() if found is None else found
    return compare(found, comparison, levels=levels, confidence=confidence)


def pair(frame, kind, mu, other="", noise=""):
    rows = frame[(frame["kind"] == kind) & (frame["mu"] == mu)]
    if other:
        rows = rows[(rows["other_algorithm"] == other)]
        rows = rows[(rows["other_noise"] == noise)]
    assert len(rows) == 1
    return rows.iloc[0]


def with_gains(it, gains):
    return dataclasses.replace(it, played=dataclasses.replace(it.played, gains=gains))


# --- Pairs ---


def test_ours_is_beside_every_other_row_with_noise_once():
    frame = table()
    for mu in LEVELS.values():
        same = frame[(frame["mu"] == mu) & frame["kind"].isin(("paper", "other"))]
        others = list(zip(same["other_algorithm"], same["other_noise"], strict=True))
        names = ("meta", "bayes", "ridge-a", "ridge-b", "kalman-a", "kalman-b")
        wanted = {(name, noise) for name in names for noise in ("isotropic", "capacity")}
        assert len(others) == len(set(others))
        assert set(others) == wanted - {("bayes", "capacity")} | {("tree", "isotropic")}
        assert (same["other_mu"] == mu).all()
    assert set(zip(frame["algorithm"], frame["noise"], strict=True)) == {("bayes", "capacity")}
    paper = frame[frame["kind"] == "paper"]
    assert paper["mu"].tolist() == [INF, 1.0, 0.25]
    assert set(zip(paper["other_algorithm"], paper["other_noise"], strict=True)) == {
        ("meta", "isotropic")
    }


def test_a_difference_by_hand():
    # Ours 17.5, 16.5 and the paper's 11.5, 12.5: differences 6 and 4, standard error 1.
    frame = table()
    row = pair(frame, "paper", 1.0)
    factor = student_factor(0.95, int(row["ci_comparisons"]), 2)
    assert (row["mean_gain"], row["other_mean_gain"], row["difference"]) == (17.0, 12.0, 5.0)
    assert row["difference_half_width"] == pytest.approx(factor)
    assert row["ci_half_width"] == pytest.approx(0.5 * factor)
    assert row["other_ci_half_width"] == pytest.approx(0.5 * factor)
    assert row["verdict"] == "undecided"
    assert (row["replicates"], row["confidence"]) == (2, 0.95)
    assert (row["level"], row["other_level"]) == ("low", "low")


def test_without_noise_differences_are_exact():
    frame = table()
    assert pair(frame, "paper", INF)["difference"] == 4.0
    assert pair(frame, "paper", INF)["difference_half_width"] == 0.0
    verdicts = {
        ("kalman-a", "capacity"): "below",
        ("bayes", "isotropic"): "equal",
        ("ridge-a", "capacity"): "above",
    }
    for other, verdict in verdicts.items():
        assert pair(frame, "other", INF, *other)["verdict"] == verdict


def test_differences_are_of_replicates_of_one_number():
    """What is common to a replicate of both cancels; shuffled, it does not."""
    common = np.random.default_rng(1).normal(0, 10, 50)
    one = cell("bayes", "capacity", 1.0, 5 + common)
    low = {"low": 1.0}
    frames = [
        compare(
            [one, cell("meta", "isotropic", 1.0, 3 + totals)],
            Comparison(paper=PAPER, ours=OURS),
            levels=low,
            confidence=0.95,
        )
        for totals in (common, common[::-1])
    ]
    assert [frame["difference"].iloc[0] for frame in frames] == pytest.approx([2.0, 2.0])
    assert frames[0]["difference_half_width"].iloc[0] < 1e-9
    assert frames[0]["verdict"].iloc[0] == "above"
    assert frames[1]["verdict"].iloc[0] == "undecided"


def test_all_intervals_of_the_table_are_counted():
    # A level: 12 pairs, 13 means. The aims: 3 pairs, all of means that are there already.
    frame = table()
    assert len(frame) == 3 * 12 + 3
    assert set(frame["ci_comparisons"]) == {3 * 12 + 3 + 3 * 13}
    both = table([*cells(), *cells("pa")])
    assert set(both["ci_comparisons"]) == {2 * (3 * 12 + 3 + 3 * 13)}


def test_streams_are_not_mixed():
    shifted = [with_gains(it, it.gains + (it.played.label == "bayes")) for it in cells("pa")]
    frame = table([*cells(), *shifted])
    gains = frame[(frame["kind"] == "paper") & (frame["mu"] == 1.0)].set_index("stream")
    assert gains["difference"].to_dict() == {"nm": 5.0, "pa": 7.0}


def test_what_else_a_row_says_of_the_other():
    frame = table()
    capacity, isotropic = (
        pair(frame, "other", 1.0, "ridge-a", noise) for noise in ("capacity", "isotropic")
    )
    assert (capacity["other_ours"], isotropic["other_ours"]) == (True, False)
    assert pair(frame, "other", 1.0, "kalman-a", "isotropic")["other_ours"]
    assert capacity["other_learner"]
    assert not pair(frame, "other", 1.0, "bayes", "isotropic")["other_learner"]
    tree = pair(frame, "other", 1.0, "tree", "isotropic")
    assert (tree["other_model"], tree["model"]) == ("central", "local")
    assert (tree["guaranteed_mu"], tree["other_guaranteed_mu"]) == (1.0, 1.0)
    assert (tree["mechanism"], tree["other_mechanism"]) == ("capacity noise", "isotropic noise")


def test_noise_is_common_where_stream_noise_and_level_are():
    frame = table()
    common = frame[frame["common_noise"]]
    assert set(common["other_noise"]) == {"capacity"}
    assert set(common["mu"]) == {1.0, 0.25}
    assert len(common) == 2 * 5
    same = Comparison(paper=PAPER, ours=OURS.model_copy(update={"noise": "isotropic"}))
    rows = table(comparison=same).query("mu == 1.0 and common_noise")
    assert set(rows["other_algorithm"]) == {"meta", "ridge-a", "ridge-b", "kalman-a", "kalman-b"}


# --- Aims ---


def test_an_aim_against_the_papers_way_at_another_level():
    row = pair(table(), "aim-paper", 0.25)
    assert (row["level"], row["other_level"], row["other_mu"]) == ("high", "low", 1.0)
    assert (row["mean_gain"], row["other_mean_gain"], row["difference"]) == (15.0, 12.0, 3.0)
    assert not row["common_noise"]


def test_an_aim_against_the_best_learner_has_a_row_for_each_of_them():
    rows = table().query("kind == 'aim-learner'")
    assert rows["other_algorithm"].tolist() == ["ridge-a", "ridge-b"]
    assert set(rows["other_noise"]) == {"isotropic"}
    assert rows["difference"].tolist() == [0.0, 1.0]
    assert set(rows["other_mu"]) == {INF}


def test_rows_of_an_aim_share_a_verdict_and_others_have_none():
    frame = table()
    verdicts = frame.groupby("kind")["aim_verdict"].agg(set).to_dict()
    # Ours is 0 and 1 above the learners, 3 above the paper's way; two runs decide nothing.
    assert verdicts == {
        "paper": {""},
        "other": {""},
        "aim-paper": {"undecided"},
        "aim-learner": {"undecided"},
    }


def test_without_aims_there_are_none():
    none = COMPARISON.model_copy(update={"aims": []})
    assert set(table(comparison=none)["kind"]) == {"paper", "other"}


# --- Mistakes ---


def test_one_replicate_decides_nothing():
    single = [with_gains(it, it.gains[:1]) for it in cells()]
    frame = table(single)
    assert set(frame["verdict"]) == {"undecided"}
    assert (frame["difference_half_width"] == INF).all()


@pytest.mark.parametrize(
    ("lacking", "told"),
    [
        (
            lambda it: (it.played.label, it.mu) == ("meta", 0.25),
            "meta with isotropic noise at mu 0",
        ),
        (lambda it: it.played.family == "ridge", "family ridge with isotropic noise at mu inf"),
    ],
)
def test_what_was_not_run_is_named(lacking, told):
    with pytest.raises(ValueError, match=f"no runs of {told}"):
        table([it for it in cells() if not lacking(it)])


def test_different_numbers_of_replicates_are_refused():
    found = [*cells(), cell("more", "isotropic", 1.0, [1.0, 2.0, 3.0])]
    with pytest.raises(ValueError, match="runs have 2, 3 replicates"):
        table(found)


def test_the_table_is_what_its_schema_says():
    pd.testing.assert_frame_equal(schema("comparison").check(table(), "here"), table())

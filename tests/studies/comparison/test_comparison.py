"""Comparison of ours with every other row, computed by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from comparison_by_hand import (
    AT_BEST,
    COMPARISON,
    CONFIDENCE,
    INF,
    LEVELS,
    OURS,
    PAPER,
    RIVALS,
    cell,
    cells,
)
from dpol.core.intervals import student_factor
from dpol.studies.comparison.comparison import compare
from dpol.studies.comparison.settings import Comparison
from dpol.studies.comparison.study import STUDY
from dpol.studies.study import schemas_in


def table(runs=None, comparison=COMPARISON, levels=LEVELS):
    frame = compare(cells() if runs is None else runs, comparison, levels, CONFIDENCE)
    return schemas_in(STUDY.package)["comparison"].check(frame, "here")


def pair(frame, kind, mu, other="", noise=""):
    rows = frame[(frame["kind"] == kind) & (frame["mu"] == mu)]
    if other:
        rows = rows[(rows["other_algorithm"] == other) & (rows["other_noise"] == noise)]
    assert len(rows) == 1
    return rows.iloc[0]


def with_totals(it, totals):
    return dataclasses.replace(it, totals=totals)


# --- Pairs ---


def test_ours_is_compared_once_with_every_other_noisy_row():
    frame = table()
    for mu in LEVELS.values():
        same = frame[(frame["mu"] == mu) & frame["kind"].isin(("baseline", "other"))]
        others = list(zip(same["other_algorithm"], same["other_noise"], strict=True))
        names = ("meta", "bayes", "ridge-a", "ridge-b", "filter-a", "filter-b")
        wanted = {(name, noise) for name in names for noise in ("isotropic", "capacity")}
        wanted = wanted - {("bayes", "capacity")} | {("tree", "isotropic")}
        assert sorted(others) == sorted(wanted)
        assert (same["other_mu"] == mu).all()
    assert set(zip(frame["algorithm"], frame["noise"], strict=True)) == {("bayes", "capacity")}
    paper = frame.loc[frame["kind"] == "baseline", ["mu", "other_algorithm", "other_noise"]]
    assert paper.to_numpy().tolist() == [[mu, "meta", "isotropic"] for mu in LEVELS.values()]


def test_a_difference_by_hand():
    # Ours 17.5, 16.5 and the baseline 11.5, 12.5: differences 6 and 4, standard error 1.
    row = pair(table(), "baseline", 1.0)
    factor = student_factor(0.95, int(row["ci_comparisons"]), 2)
    assert (row["mean_gain"], row["other_mean_gain"], row["difference"]) == (17.0, 12.0, 5.0)
    widths = ["difference_half_width", "ci_half_width", "other_ci_half_width"]
    assert row[widths].tolist() == pytest.approx([factor, 0.5 * factor, 0.5 * factor])
    assert row["verdict"] == "undecided"
    assert (row["replicates"], row["confidence"]) == (2, 0.95)
    assert (row["level"], row["other_level"]) == ("low", "low")


def test_without_noise_differences_are_exact():
    frame = table()
    paper = pair(frame, "baseline", INF)
    assert (paper["difference"], paper["difference_half_width"]) == (4.0, 0.0)
    verdicts = {
        ("filter-a", "capacity"): "below",
        ("bayes", "isotropic"): "equal",
        ("ridge-a", "capacity"): "above",
    }
    for other, verdict in verdicts.items():
        assert pair(frame, "other", INF, *other)["verdict"] == verdict


def test_differences_pair_replicates_by_number():
    """What a replicate of both shares cancels; shuffled, it does not."""
    common = np.random.default_rng(1).normal(0, 10, 50)
    one = cell("bayes", "capacity", 1.0, 5 + common)
    two = Comparison(baseline=PAPER, ours=OURS)
    same, shuffled = (
        table([one, cell("meta", "isotropic", 1.0, 3 + totals)], two, {"low": 1.0}).iloc[0]
        for totals in (common, common[::-1])
    )
    assert [same["difference"], shuffled["difference"]] == pytest.approx([2.0, 2.0])
    assert same["difference_half_width"] < 1e-9
    assert (same["verdict"], shuffled["verdict"]) == ("above", "undecided")


def test_all_intervals_of_the_table_are_counted():
    # Each level: 12 pairs, 13 means.
    frame = table()
    assert len(frame) == 3 * 12
    assert set(frame["ci_comparisons"]) == {3 * 12 + 3 * 13}
    both = table([*cells(), *cells("pa")])
    assert set(both["ci_comparisons"]) == {2 * (3 * 12 + 3 * 13)}


def test_streams_are_not_mixed():
    shifted = [with_totals(run, run.totals + 2 * (run.algorithm == "bayes")) for run in cells("pa")]
    frame = table([*cells(), *shifted])
    gains = frame[(frame["kind"] == "baseline") & (frame["mu"] == 1.0)].set_index("stream")
    assert gains["difference"].to_dict() == {"nm": 5.0, "pa": 7.0}


def test_a_row_describes_the_other_side():
    frame = table()
    for (other, noise), ours in {
        ("ridge-a", "capacity"): True,
        ("ridge-a", "isotropic"): False,
        ("filter-a", "isotropic"): True,
    }.items():
        assert pair(frame, "other", 1.0, other, noise)["other_ours"] == ours
    tree = pair(frame, "other", 1.0, "tree", "isotropic")
    assert (tree["other_model"], tree["model"]) == ("central", "local")
    assert (tree["guaranteed_mu"], tree["other_guaranteed_mu"]) == (1.0, 1.0)
    assert (tree["mechanism"], tree["other_mechanism"]) == ("capacity noise", "isotropic noise")


def test_noise_is_common_if_stream_noise_and_level_agree():
    frame = table()
    common = frame[frame["common_noise"]]
    assert set(common["other_noise"]) == {"capacity"}
    assert set(common["mu"]) == {1.0, 0.25}
    assert len(common) == 2 * 5
    same = Comparison(baseline=PAPER, ours=OURS.model_copy(update={"noise": "isotropic"}))
    rows = table(comparison=same).query("mu == 1.0 and common_noise")
    assert set(rows["other_algorithm"]) == {"meta", "ridge-a", "ridge-b", "filter-a", "filter-b"}


def test_a_system_of_a_rival_has_rows_of_kind_rival_and_none_of_kind_other():
    frame, before = table(comparison=AT_BEST), table()
    systems = [("meta", "capacity"), ("ridge-a", "isotropic"), ("ridge-b", "isotropic")]
    for mu in LEVELS.values():
        rivals = frame[(frame["mu"] == mu) & (frame["kind"] == "rival")]
        named = zip(rivals["other_algorithm"], rivals["other_noise"], strict=True)
        assert list(named) == systems
        assert rivals["rival"].tolist() == [RIVALS[0].name, RIVALS[1].name, RIVALS[1].name]
        others = frame[(frame["mu"] == mu) & (frame["kind"] == "other")]
        names = set(zip(others["other_algorithm"], others["other_noise"], strict=True))
        assert not names & set(systems)
        assert set(others["rival"]) == {""}
    assert len(frame) == len(before)
    assert frame.loc[frame["kind"] == "baseline", "difference"].tolist() == [4.0, 5.0, 7.0]


# --- Mistakes ---


def test_one_replicate_decides_nothing():
    frame = table([with_totals(run, run.totals[:1]) for run in cells()])
    assert set(frame["verdict"]) == {"undecided"}
    assert (frame["difference_half_width"] == INF).all()


@pytest.mark.parametrize(
    ("lacking", "told"),
    [
        (("meta", 0.25), "meta with isotropic noise at mu 0.25; run them"),
        (("meta", INF), "meta with isotropic noise at mu inf; run them"),
    ],
)
def test_an_error_names_the_runs_that_are_missing(lacking, told):
    with pytest.raises(ValueError, match=f"no runs of {told}"):
        table([run for run in cells() if (run.algorithm, run.mu) != lacking])


def test_different_numbers_of_replicates_are_refused():
    with pytest.raises(ValueError, match="runs have 2, 3 replicates; to be paired, all need"):
        table([*cells(), cell("more", "isotropic", 1.0, [1.0, 2.0, 3.0])])

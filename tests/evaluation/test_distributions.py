"""Tables of risks: every row against a run by hand."""

from __future__ import annotations

import functools
import math

import numpy as np
import pandas as pd
import pytest

import labels_plain as plain
from dpol.core.errors import DataError
from dpol.core.intervals import half_width
from dpol.core.schemas import write_frame
from dpol.distributions.bounds import exp3_bound, lower_bound, wma_bound
from dpol.distributions.classes import hard_class, hardness, random_class
from dpol.distributions.registry import REGISTRY
from dpol.evaluation import distributions as module
from dpol.evaluation.distributions import (
    DISTRIBUTION_COLUMNS,
    Setting,
    collect_settings,
    settings_of,
    study_hospitals,
    study_setting,
)
from dpol.studies.pending import Distributions

MEMBERS = {(name, rule) for name, entry in REGISTRY.items() for rule in entry.calibrations}
ROUNDS = Setting("rounds", 4, 6, 90, 1.0)
LABELS = Setting("labels", 3, 9, 60, 2.0)


def config(**fields):
    facts = {"n_hypotheses": 4, "n_labels": 6, "n_rounds": 60, "replicates": 5, "groups": 3}
    return Distributions.model_validate({**facts, **fields})


class Played:
    """The frame, and what was played for it, in the order of playing."""

    def __init__(self, study):
        self.runs = []
        self.seeds = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "play_labels", self.play)
            self.frame = study()

    def play(self, learner, game, generators):
        self.seeds.append([seed_of(part) for part in (generators.nature, generators.clients)])
        run = PLAY(learner, game, generators)
        self.runs.append((learner, game, run))
        return run


PLAY = module.play_labels


def seed_of(generators):
    """What the first replicate's numbers depend on."""
    return generators.generators[0].bit_generator.state["state"]["state"]


@functools.lru_cache
def played(setting):
    return Played(lambda: study_setting(config(), setting, seed=5))


@functools.lru_cache
def hospitals(make_stream, weeks=8, per_week=5, seed=5, equal=False):
    rng = np.random.default_rng(0)
    capacity = np.full((weeks, 3), 20.0) if equal else rng.integers(10, 60, size=(weeks, 3))
    gains = np.round(rng.random((weeks, 3)) * capacity) / capacity
    gains[2] = 0.0  # a week without a patient
    stream = make_stream(gains, capacity, label="beds")
    study = config(patients_per_week=per_week, sweeps={"epsilons": [0.5, 2.0]})
    return stream, Played(lambda: study_hospitals(study, stream, seed=seed))


# ---- settings ------------------------------------------------------------------------------------


def test_settings_change_one_number_each():
    study = config(
        epsilon=2,
        sweeps={"rounds": [10, 20], "labels": [7], "hypotheses": [8], "epsilons": [0.5, 4]},
    )
    assert dict(settings_of(study)) == {
        "rounds-0": Setting("rounds", 4, 6, 10, 2.0),
        "rounds-1": Setting("rounds", 4, 6, 20, 2.0),
        "labels-0": Setting("labels", 4, 7, 60, 2.0),
        "hypotheses-0": Setting("hypotheses", 8, 6, 60, 2.0),
        "epsilons-0": Setting("epsilons", 4, 6, 60, 0.5),
        "epsilons-1": Setting("epsilons", 4, 6, 60, 4.0),
    }
    assert not settings_of(config())


# ---- rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "classes"), [(ROUNDS, ["random", "hard"]), (LABELS, ["random"])]
)
def test_every_learner_has_its_row(setting, classes):
    table = played(setting).frame
    assert list(table["hypotheses"].unique()) == classes
    for _, rows in table.groupby("hypotheses"):
        assert len(rows) == len(MEMBERS)
        assert set(zip(rows["algorithm"], rows["calibration"], strict=True)) == MEMBERS
    assert (table["sweep"] == setting.sweep).all()
    assert (table["epsilon"] == setting.epsilon).all()
    assert (table["T"] == setting.n_rounds).all()
    assert (table["replicates"] == 5).all()
    assert set(table["origin"]) == {"paper", "standard", "ours"}


def test_columns_are_those_of_the_table(make_stream):
    of_setting = set(played(ROUNDS).frame.columns)
    of_hospitals = set(hospitals(make_stream)[1].frame.columns)
    together = {"ci_half_width", "confidence", "ci_comparisons"}
    assert of_setting | of_hospitals | together == set(DISTRIBUTION_COLUMNS)
    assert of_setting ^ of_hospitals == {
        "lower_bound",
        "tv_average",
        "tv_average_runs",
        "tv_median",
        "tv_median_runs",
        "truth_weight",
        "best_kl",
    }
    assert len(set(DISTRIBUTION_COLUMNS)) == len(DISTRIBUTION_COLUMNS)


def test_all_settings_share_the_error_of_their_intervals(make_stream, tmp_path):
    """Also where the tables were on disk, as the workflow has them."""
    parts = [played(ROUNDS).frame, played(LABELS).frame, hospitals(make_stream)[1].frame]
    for number, part in enumerate(parts):
        write_frame(part, tmp_path / f"{number}.parquet")
    read = [pd.read_parquet(tmp_path / f"{number}.parquet") for number in range(3)]
    whole = collect_settings(read, confidence=0.9)
    assert tuple(whole.columns) == DISTRIBUTION_COLUMNS
    m = sum(map(len, parts))
    assert (whole["ci_comparisons"] == m).all()
    assert (whole["confidence"] == 0.9).all()
    for row in whole.itertuples():
        expected = float(half_width(np.array(row.kl_runs), 0.9, m))
        assert row.ci_half_width == pytest.approx(expected, rel=1e-12)
    write_frame(whole, tmp_path / "whole.parquet")
    again = pd.read_parquet(tmp_path / "whole.parquet")
    assert [list(it) for it in again["kl_runs"]] == [list(it) for it in whole["kl_runs"]]
    has_median = again["tv_median_runs"].notna()
    assert (has_median == (again["sweep"] == "rounds")).all()


def rows_and_runs(found, n_rounds):
    """Each row with its run; runs of the median selector have other lengths."""
    runs = [parts for parts in found.runs if parts[1].n_rounds == n_rounds]
    assert len(runs) == len(found.frame)
    return zip(found.frame.itertuples(), runs, strict=True)


def entropies(game):
    """Mean entropy of a label, by replicate."""
    laws = game.laws[game.law]
    each = [[-sum(p * math.log(p) for p in law if p > 0) for law in by_x] for by_x in laws]
    return np.array(each)[:, game.features].mean()


@pytest.mark.parametrize("setting", [ROUNDS, LABELS])
def test_a_row_is_what_its_run_gives(setting):
    T = setting.n_rounds
    for row, (learner, game, run) in rows_and_runs(played(setting), T):
        assert row.mean_kl_risk == pytest.approx(run.kl.mean(), rel=1e-12)
        assert row.kl_runs == run.kl.tolist()
        assert row.mean_tv == pytest.approx(run.tv.mean() / T, rel=1e-12)
        assert row.mean_tv <= math.sqrt(row.mean_kl_risk / T / 2)
        expected = row.mean_kl_risk / T + entropies(game)
        assert row.mean_log_loss == pytest.approx(expected, rel=1e-9)
        weights = [run.final_weights[r, r % row.K] for r in range(5)]
        assert row.truth_weight == pytest.approx(np.mean(weights), rel=1e-12)
        assert game.hypotheses.masses.shape[1:] == (row.K, row.M)
        assert row.origin == learner.origin
        pair = learner.client.guarantee.epsilon_delta or (math.inf, 0.0)
        assert (row.guaranteed_epsilon, row.delta) == pair
        assert row.calibration == "exact" or learner.client.sensitivity.rule == "published"


@pytest.mark.parametrize("setting", [ROUNDS, LABELS])
def test_the_batch_estimate_is_the_average_of_the_predictions(setting):
    """So it is at least as near to the truth as the predictions are on average."""
    for row, (learner, game, run) in rows_and_runs(played(setting), setting.n_rounds):
        average = run.mean_weights @ learner.masses[0]
        truth = game.laws[game.law, 0]
        distances = [plain.tv(p, q) for p, q in zip(truth, average, strict=True)]
        assert row.tv_average == pytest.approx(np.mean(distances), rel=1e-9)
        assert row.tv_average_runs == pytest.approx(distances, rel=1e-9)
        assert row.tv_average <= row.mean_tv + 1e-12


def test_bounds_of_the_rows():
    random = random_class(4, 6, seed=5)
    hard = hard_class(2, hardness(2, 90, 1.0))
    for row, (_, game, _) in rows_and_runs(played(ROUNDS), 90):
        expected = {
            "wma": wma_bound(4, 90, 1.0, 1e-6, row.calibration),
            "exp3": exp3_bound(4, 90, 1.0),
            "bayes": math.log(4),
        }.get(row.algorithm, math.nan)
        np.testing.assert_equal(row.upper_bound, expected)
        is_hard = row.hypotheses == "hard"
        np.testing.assert_equal(row.lower_bound, lower_bound(2, 90, 1.0) if is_hard else math.nan)
        np.testing.assert_array_equal(game.hypotheses.masses, (hard if is_hard else random).masses)


def test_the_median_selector_has_its_own_shorter_runs():
    """Three learners of 30 rounds each; asked for in the sweep of rounds only."""
    assert played(LABELS).frame["tv_median"].isna().all()
    found = played(ROUNDS)
    shorter = [parts for parts in found.runs if parts[1].n_rounds == 30]
    assert len(shorter) == len(found.frame)
    for row, (learner, game, run) in zip(found.frame.itertuples(), shorter, strict=True):
        truths = [r % row.K for r in range(5)]
        assert game.law.tolist() == [law for law in truths for _ in range(3)]
        distances = []
        for r, law in enumerate(truths):
            own = [run.mean_weights[3 * r + g] @ learner.masses[0] for g in range(3)]
            between = [sorted(np.abs(p - q).sum() for q in own)[1] for p in own]
            truth = game.hypotheses.masses[0, law]
            distances.append(plain.tv(truth, own[int(np.argmin(between))]))
        assert row.tv_median == pytest.approx(np.mean(distances), rel=1e-9)
        if hasattr(learner.client, "sensitivity"):
            assert learner.client.sensitivity.clipping.n_rounds == 30


def test_all_learners_meet_the_same_labels_with_their_own_coins():
    """Of one class and length; the median selector has labels of its own."""
    found = played(ROUNDS)
    labels = {}
    for (_, game, _), (nature, _) in zip(found.runs, found.seeds, strict=True):
        labels.setdefault((game.hypotheses.label, game.n_rounds), set()).add(nature)
    assert {key: len(seeds) for key, seeds in labels.items()} == dict.fromkeys(labels, 1)
    assert len(set.union(*labels.values())) == len(labels) == 4
    coins = [client for _, client in found.seeds]
    assert len(set(coins)) == len(coins) == 4 * len(MEMBERS)


def test_an_odd_number_of_hypotheses_has_a_smaller_hard_class():
    table = study_setting(config(), Setting("rounds", 5, 6, 60, 1.0), seed=5)
    assert table.groupby("hypotheses")["K"].unique().map(list).to_dict() == {
        "random": [5],
        "hard": [4],
    }


def test_too_few_rounds_for_the_hard_class_leave_it_out():
    table = study_setting(config(), Setting("rounds", 4, 6, 8, 0.1), seed=5)
    assert hardness(2, 8, 0.1) > 1
    assert set(table["hypotheses"]) == {"random"}
    assert table["lower_bound"].isna().all()


def test_a_study_is_reproducible_and_a_seed_matters():
    again = study_setting(config(), LABELS, seed=5)
    pd.testing.assert_frame_equal(again, played(LABELS).frame)
    other = study_setting(config(), LABELS, seed=6)
    assert (other["mean_kl_risk"] != again["mean_kl_risk"]).all()
    assert (other[["K", "M", "T"]] == again[["K", "M", "T"]]).all(axis=None)


def test_the_published_calibration_of_exp3_says_what_it_guarantees():
    """A class of few labels with mass: the true range is above log(KT)."""
    study = config(concentration=0.05, replicates=2)
    table = study_setting(study, Setting("labels", 3, 10, 40, 1.0), seed=1).set_index(
        ["algorithm", "calibration"]
    )
    guaranteed = table["guaranteed_epsilon"]
    assert 1 < guaranteed["exp3", "published"] < 1.2
    for member in MEMBERS - {("exp3", "published"), ("bayes", "exact")}:
        assert guaranteed[member] == 1.0
    assert guaranteed["bayes", "exact"] == math.inf


# ---- hospitals -----------------------------------------------------------------------------------


def test_hospital_rows_are_complete(make_stream):
    _, found = hospitals(make_stream)
    table = found.frame
    assert len(table) == 2 * len(MEMBERS)
    for epsilon, rows in table.groupby("epsilon"):
        assert epsilon in (0.5, 2.0)
        assert set(zip(rows["algorithm"], rows["calibration"], strict=True)) == MEMBERS
    facts = table[["sweep", "hypotheses", "K", "M", "T", "replicates"]].drop_duplicates()
    assert facts.to_numpy().tolist() == [["hospitals", "beds", 5, 3, 35, 5]]
    assert table["upper_bound"].isna().all()
    assert np.isfinite(table["mean_kl_risk"]).all()


def test_hospital_rows_are_what_their_runs_give(make_stream):
    stream, found = hospitals(make_stream)
    counts = stream.gains * stream.capacity
    weeks = [week for week in range(8) if week != 2]
    truths = {week: counts[week] / counts[week].sum() for week in weeks}
    for row, (_, game, run) in zip(found.frame.itertuples(), found.runs, strict=True):
        assert game.features.tolist() == [week for week in weeks for _ in range(5)]
        for week in weeks:
            np.testing.assert_allclose(game.laws[0, week], truths[week], rtol=1e-12)
        assert game.law.tolist() == [0] * 5
        costs = [
            sum(5 * plain.kl(truths[week], game.hypotheses.masses[week, j]) for week in weeks)
            for j in range(5)
        ]
        assert row.best_kl == pytest.approx(min(costs), rel=1e-9)
        assert row.mean_kl_risk == pytest.approx(run.kl.mean(), rel=1e-12)
        expected = row.mean_kl_risk / 35 + entropies(game)
        assert row.mean_log_loss == pytest.approx(expected, rel=1e-9)


def test_hospitals_are_reproducible_and_a_seed_matters(make_stream):
    _, found = hospitals(make_stream)
    _, again = hospitals.__wrapped__(make_stream)
    pd.testing.assert_frame_equal(again.frame, found.frame)
    _, other = hospitals(make_stream, seed=6)
    assert (other.frame["mean_kl_risk"] != found.frame["mean_kl_risk"]).all()


def test_hospitals_of_equal_size_can_be_studied(make_stream):
    """In week 0 all forecasts are uniform: messages that never change, without noise."""
    _, found = hospitals(make_stream, equal=True)
    assert np.isfinite(found.frame["mean_kl_risk"]).all()


def test_without_a_sweep_the_base_is_studied(make_stream):
    stream, _ = hospitals(make_stream)
    table = study_hospitals(config(patients_per_week=2, epsilon=3.0), stream, seed=5)
    assert set(table["epsilon"]) == {3.0}
    assert set(table["T"]) == {14}


def test_hospitals_need_patients(make_stream):
    stream, _ = hospitals(make_stream)
    with pytest.raises(ValueError, match="patients_per_week must be given"):
        study_hospitals(config(), stream, seed=5)
    empty = make_stream(np.zeros((3, 2)), 10.0)
    with pytest.raises(DataError, match="has no patient in any week"):
        study_hospitals(config(patients_per_week=2), empty, seed=5)

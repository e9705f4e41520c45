"""Regret of L2P for online convex optimisation beside its competitors."""

from __future__ import annotations

import functools
import math

import numpy as np
import pandas as pd
import pytest

from dpol.config import Convex
from dpol.studies.convex.follow_the_leader import PrivateFTRL
from dpol.studies.convex.losses import LinearLosses, LogisticLosses
from dpol.studies.convex.measure import RegularisedWeights
from dpol.studies.convex.study import make_losses, run_lazy_convex, study_convex
from dpol.intervals import half_width
from dpol.lazy import LazyParameters, advance, start
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.privacy.guarantee import NO_PRIVACY
from dpol.studies.convex.accounting import (
    ConvexCalibration,
    ConvexGame,
    calibrate_convex,
    convex_epsilon,
    theorem_3_12,
)
from dpol.randomness import ReplicateGenerators, replicate_generators

COLUMNS = [
    "family",
    "T",
    "d",
    "epsilon",
    "delta",
    "algorithm",
    "accountant",
    "batch_size",
    "eta",
    "fake_switch",
    "beta",
    "regulariser",
    "accounted_epsilon",
    "replicates",
    "mean_regret",
    "redraws",
    *NO_PRIVACY.as_columns(),
    "ci_half_width",
    "confidence",
    "ci_comparisons",
]
FAMILIES = ("linear", "logistic")


def generators(replicates: int, seed: int = 0) -> ReplicateGenerators:
    return replicate_generators(seed, ("test",), range(replicates), "algorithm")


def plain_losses(losses: LinearLosses | LogisticLosses, point: np.ndarray) -> float:
    if isinstance(losses, LinearLosses):
        return sum(float(a @ point) for a in losses.gradients)
    pairs = zip(losses.features, losses.labels, strict=True)
    return sum(math.log1p(math.exp(-y * float(a @ point))) for a, y in pairs)


# ---- losses --------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("lipschitz", [1.0, 0.3])
def test_losses_have_the_size_asked_for_and_depend_on_the_seed(family, lipschitz):
    losses = make_losses(family, 500, 3, lipschitz, 4)
    vectors = losses.gradients if family == "linear" else losses.features
    assert vectors.shape == (500, 3)
    norms = np.linalg.norm(vectors, axis=1)
    assert norms.max() <= lipschitz
    assert norms.max() > 0.97 * lipschitz
    again, other = (make_losses(family, 500, 3, lipschitz, seed) for seed in (4, 5))
    for seed, found in ((4, again), (5, other)):
        values = found.gradients if family == "linear" else found.features
        assert np.array_equal(values, vectors) == (seed == 4)


def test_linear_losses_drift_by_three_tenths():
    """The mean of T unit vectors times 0.7 has norm 0.7 / sqrt(T) in the mean square."""
    for seed in range(3):
        losses = make_losses("linear", 10_000, 3, 2.0, seed)
        drift = np.linalg.norm(losses.gradients.mean(axis=0))
        assert drift == pytest.approx(2.0 * 0.3, abs=6 * 2.0 * 0.7 / 100)
        assert drift != pytest.approx(0.0, abs=0.5)


def test_logistic_losses_can_be_learned():
    losses = make_losses("logistic", 2000, 3, 1.0, 0)
    best = losses.best_fixed_point(8.0)
    assert plain_losses(losses, best) < 0.9 * 2000 * math.log(2)
    # Labels follow the hidden parameter 4 times a unit vector.
    assert 2.0 < np.linalg.norm(best) <= 4.0


# ---- L2P -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("normaliser", ["published", "tight"])
@pytest.mark.parametrize("B", [1, 4, 50])
def test_l2p_is_that_of_the_library_played_by_hand(normaliser, B):
    losses = make_losses("linear", 30, 2, 1.0, 0)
    found = ConvexCalibration(B, 0.05, 0.3, 0.025, 20.0, 1.0, 0.0)
    total, redraws = run_lazy_convex(losses, 2.0, found, normaliser, 10, generators(6))
    own, measure = generators(6), RegularisedWeights(2, 2.0, 0.025, 20.0)
    parameters = LazyParameters(B, 0.05, 0.3, normaliser)
    state, expected = start(measure, own), np.zeros(6)
    for t in range(30):
        if t and t % B == 0:
            batch = losses.gradients[t - B : t].sum(axis=0)
            state = advance(measure, parameters, state, batch, own)
        expected += [float(losses.gradients[t] @ point) for point in state.played]
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(redraws, state.redraws)
    assert np.any(redraws > 0) == (B < 30)


def test_l2p_on_logistic_losses_without_temperature_plays_near_the_best_point():
    """beta so large that every draw is near the leader; redrawn always."""
    losses = make_losses("logistic", 60, 1, 1.0, 0)
    found = ConvexCalibration(5, 1.0, 1.0, 1e5, 0.5, math.nan, math.nan)
    total, redraws = run_lazy_convex(losses, 2.0, found, "tight", 60, generators(3))
    assert redraws.tolist() == [11.0] * 3
    expected = 0.0
    for first in range(0, 60, 5):
        leader = losses.minimise(slice(0, first), 2.0, 0.5) if first else np.zeros(1)
        expected += float(losses.value(slice(first, first + 5), leader[None])[0])
    assert total == pytest.approx([expected] * 3, abs=0.2)


@functools.lru_cache
def played() -> tuple[ConvexGame, ConvexCalibration, np.ndarray, float]:
    """A game, its calibration, (15,) regrets and the regret of playing 0."""
    game = ConvexGame(1000, 2, 2.0, 1.0, 1e-2)
    found = calibrate_convex(game, epsilon=8.0)
    losses = make_losses("linear", 1000, 2, 1.0, 3)
    best = plain_losses(losses, losses.best_fixed_point(2.0))
    total, _ = run_lazy_convex(losses, 2.0, found, "tight", 1, generators(15))
    return game, found, total - best, -best


def largest_mean(regret: np.ndarray) -> float:
    """The true mean is larger with probability 1e-6 at most (normal, 4.75 standard errors)."""
    return float(regret.mean() + 4.75 * np.std(regret, ddof=1) / math.sqrt(len(regret)))


def test_regret_is_below_its_bound():
    """lambda D^2/4 + B T L^2/(2 lambda) + (d/beta) (1 + log(beta R/d)), R = D L T + lambda D^2/4.

    The last term is -log of the mass that nu gives to the best point's surroundings, over beta.
    """
    game, found, regret, of_zero = played()
    R = 2.0 * game.n_rounds + found.regulariser
    temperature = game.dimension / found.beta
    spread = found.batch_size * game.n_rounds / (2 * found.regulariser)
    logarithm = 1 + math.log(found.beta * R / game.dimension)
    bound = found.regulariser + spread + temperature * logarithm
    assert largest_mean(regret) < bound < 0.7 * of_zero
    assert regret.mean() > 0


# ---- the study -----------------------------------------------------------------------------------


def config(**fields: object) -> Convex:
    facts = {
        "families": list(FAMILIES),
        "n_rounds": [3],
        "dimensions": [2],
        "epsilons": [4.0],
        "replicates": 3,
        "diameter": 3.0,
        "lipschitz": 0.5,
        "steps": 5,
    }
    return Convex.model_validate({**facts, **fields})


@functools.lru_cache
def small() -> pd.DataFrame:
    return study_convex(config(), seed=5)


def test_every_setting_has_its_rows():
    table = small()
    assert list(table.columns) == COLUMNS
    names = ["l2p-sound", "l2p-theorem-3.12", "dp-ftrl", "gradient-descent"]
    assert table["algorithm"].tolist() == names * 2
    assert table["family"].tolist() == ["linear"] * 4 + ["logistic"] * 4
    assert (table["replicates"] == 3).all()
    assert (table["ci_comparisons"] == 8).all()
    assert table["accountant"].tolist() == ["sound", "sound", "", ""] * 2
    assert table["redraws"].isna().tolist() == [False, False, True, True] * 2
    assert (table.loc[table["algorithm"] == "gradient-descent", "ci_half_width"] == 0).all()
    parameters = ["batch_size", "eta", "fake_switch", "beta", "regulariser", "accounted_epsilon"]
    private = table["algorithm"].str.startswith("l2p")
    assert table.loc[private, parameters].notna().all(axis=None)
    assert table.loc[~private, parameters].isna().all(axis=None)


def test_accounted_epsilons_are_those_of_the_parameters():
    game = ConvexGame(3, 2, 3.0, 0.5, 1e-6)
    for row in small().itertuples():
        if row.algorithm.startswith("l2p"):
            accounted = convex_epsilon(
                game,
                batch_size=int(row.batch_size),
                eta=row.eta,
                fake_switch=row.fake_switch,
                beta=row.beta,
                regulariser=row.regulariser,
                normaliser=1.0 if row.algorithm == "l2p-sound" else 2.0,
            )
            assert row.accounted_epsilon == accounted
        if row.algorithm == "l2p-sound":
            assert 3.6 < row.accounted_epsilon <= 4.0
        if row.algorithm == "l2p-theorem-3.12":
            assert row.beta == theorem_3_12(game, epsilon=4.0).beta


def test_a_row_is_what_its_parameters_give():
    """On linear losses, against a closed form of the best point's loss: -D/2 |sum of a_t|."""
    losses = make_losses("linear", 3, 2, 0.5, 5)
    best = -1.5 * float(np.linalg.norm(losses.gradients.sum(axis=0)))
    assert plain_losses(losses, losses.best_fixed_point(3.0)) == pytest.approx(best, rel=1e-12)
    for row in small().query("family == 'linear'").itertuples():
        key = ("convex", "linear", 3, 2, 4.0)
        own = replicate_generators(5, key, range(3), f"algorithm {row.algorithm}")
        if row.algorithm.startswith("l2p"):
            found = ConvexCalibration(
                int(row.batch_size),
                row.eta,
                row.fake_switch,
                row.beta,
                row.regulariser,
                row.accounted_epsilon,
                math.nan,
            )
            normaliser = "tight" if row.algorithm == "l2p-sound" else "published"
            total, redraws = run_lazy_convex(losses, 3.0, found, normaliser, 5, own)
            assert row.redraws == redraws.mean()
        elif row.algorithm == "dp-ftrl":
            total = PrivateFTRL(mu_of_epsilon(4.0, 1e-6), 3.0).play(losses, own).total_losses
        else:
            x, total = np.zeros(2), np.zeros(1)
            for t, gradient in enumerate(losses.gradients, start=1):
                total += gradient @ x
                x = x - 3.0 / (0.5 * math.sqrt(t)) * gradient
                x *= min(1.0, 1.5 / float(np.linalg.norm(x)))
        assert row.mean_regret == pytest.approx(total.mean() - best, rel=1e-9)
        expected = float(half_width(total - best, 0.95, 8)) if len(total) > 1 else 0.0
        assert row.ci_half_width == pytest.approx(expected, rel=1e-9)


@pytest.fixture
def uncalibrated(monkeypatch):
    """Calibration takes seconds; most rows do not need it."""

    def refuse(game: ConvexGame, *, epsilon: float) -> ConvexCalibration:
        raise ValueError("not in this test")

    monkeypatch.setattr("dpol.studies.convex.study.calibrate_convex", refuse)


def assert_same_but_for_the_shared_error(found, expected):
    """All rows of a table share the error of their intervals, so these depend on the others."""
    shared = ["ci_half_width", "ci_comparisons"]
    tables = [it.drop(columns=shared).reset_index(drop=True) for it in (found, expected)]
    pd.testing.assert_frame_equal(*tables)


@pytest.mark.usefixtures("uncalibrated")
def test_a_study_is_reproducible_whatever_else_is_studied():
    others = config(n_rounds=[4, 3], dimensions=[1, 2], epsilons=[1.0, 4.0])
    found = study_convex(others, seed=5).query("T == 3 and d == 2 and epsilon == 4")
    expected = small().query("algorithm != 'l2p-sound'")
    assert_same_but_for_the_shared_error(found, expected)
    again = study_convex(others, seed=6).query("T == 3 and d == 2 and epsilon == 4")
    assert (again["mean_regret"].to_numpy() != expected["mean_regret"].to_numpy()).all()


def test_a_study_with_calibration_is_reproducible():
    found = study_convex(config(families=["linear"]), seed=5)
    assert_same_but_for_the_shared_error(found, small().query("family == 'linear'"))


def test_settings_that_cannot_be_calibrated_have_no_row():
    table = study_convex(config(n_rounds=[3], epsilons=[1e-12], families=["linear"]), seed=5)
    assert table["algorithm"].tolist() == ["l2p-theorem-3.12", "dp-ftrl", "gradient-descent"]


@pytest.mark.usefixtures("uncalibrated")
@pytest.mark.parametrize("seed", [1, 2])
def test_regret_of_gradient_descent_is_below_its_bound(seed):
    """3/2 D L sqrt(T); playing 0 has more on linear losses of this length."""
    study = config(n_rounds=[2000], epsilons=[1e-3], replicates=2, families=["linear"])
    table = study_convex(study, seed=seed).set_index("algorithm")
    bound = 1.5 * 3.0 * 0.5 * math.sqrt(2000)
    assert table.loc["gradient-descent", "mean_regret"] <= bound
    losses = make_losses("linear", 2000, 2, 0.5, seed)
    assert -plain_losses(losses, losses.best_fixed_point(3.0)) > bound


@pytest.mark.usefixtures("uncalibrated")
def test_so_it_is_on_logistic_losses():
    study = config(n_rounds=[300], epsilons=[1e-3], replicates=2, families=["logistic"], steps=1)
    table = study_convex(study, seed=1).set_index("algorithm")
    bound = 1.5 * 3.0 * 0.5 * math.sqrt(300)
    assert 0 < table.loc["gradient-descent", "mean_regret"] <= bound

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpol.experts.learners.empirical_bayes import EmpiricalBayesBank
from dpol.experts.learners.joined import LearnerAlone
from dpol.experts.learners.state_space import (
    MODELS,
    KalmanBank,
    StateSpaceModel,
    deviations_from_level,
)
from dpol.experts.play import play_rounds
from steps import final_state, relative_observations, typical_levels

SLOW, FAST = StateSpaceModel(2.5e-5, 0.9), StateSpaceModel(0.5, 0.9)
GRID = (SLOW, StateSpaceModel(0.025), FAST, StateSpaceModel(2.5e-3, transient_variance=0.25))


@pytest.fixture
def game(make_noisy):
    """Return a game of 12 rounds, 5 experts and 3 replicates with noise of different scales."""
    rng = np.random.default_rng(4)
    scale = rng.uniform(0.01, 0.3, (12, 5))
    return make_noisy(0.2 + scale * rng.standard_normal((3, 12, 5)), noise_scale=scale)


# --- Plain versions: Gaussian conditioning on the whole history, loops over everything ---


def joint(model, rounds, scale):
    """Return covariances of noisy deviations 1..T, and of deviation T + 1 with them and itself.

    Deviation t + 1 is f times deviation t plus a process disturbance.
    """
    f, variances = model.persistence, [model.variance_before]
    for _ in range(rounds):
        variances.append(f**2 * variances[-1] + model.process_variance)
    s, t = np.indices((rounds + 1, rounds + 1))
    full = np.array(variances)[np.minimum(s, t)] * f ** np.abs(s - t)
    return full[:-1, :-1] + np.diag(scale**2 + model.transient_variance), full[-1]


def history(noisy):
    """Return the (T, R, n) deviations from the shared level, and the (T, R, n) noise scales."""
    seen = relative_observations(noisy)
    deviations = [deviations_from_level(each) for each in seen]
    return np.array(deviations), np.array([each.noise_scale for each in seen])


def likelihoods_and_predictions(models, noisy):
    """Return (K, R, n) arrays of both, from the joint Gaussian distribution of the history."""
    deviations, scale = history(noisy)
    rounds, replicates, n = deviations.shape
    fits, predictions = np.empty((2, len(models), replicates, n))
    for k, model in enumerate(models):
        for i in range(n):
            for r in range(replicates):
                covariance, (*ahead, _) = joint(model, rounds, scale[:, r, i])
                law = stats.multivariate_normal(np.zeros(rounds), covariance)
                fits[k, r, i] = law.logpdf(deviations[:, r, i])
                predictions[k, r, i] = np.linalg.solve(covariance, deviations[:, r, i]) @ ahead
    return fits, predictions


def normalised(logs):
    weights = np.exp(logs - logs.max(axis=0))
    return weights / weights.sum(axis=0)


@pytest.mark.parametrize("pooling", ["common", "expert"])
def test_pooling_equals_plain_loops(make_noisy, game, pooling):
    """`common` is exact Bayesian model averaging, by the joint normal density of all noisy gains.

    `expert` estimates shares anew every round, from the weights of the last shares.
    """
    replicates, rounds, n = game.gains.shape
    shares = np.full((len(GRID), replicates, 1), 1 / len(GRID))
    for t in range(1, rounds + 1):
        so_far = make_noisy(game.gains[:, :t], game.noise_scale[:t])
        fits, predictions = likelihoods_and_predictions(GRID, so_far)
        if pooling == "common":
            fits = fits.sum(axis=2, keepdims=True)
        last, weights = shares, normalised(fits + np.log(shares))
        if pooling == "expert":
            shares = (weights.sum(axis=2, keepdims=True) + 1) / (n + len(GRID))
    state = final_state(EmpiricalBayesBank(GRID, pooling, 1.0), game)
    np.testing.assert_allclose(normalised(state.weighing.fits + np.log(last)), weights, atol=1e-10)
    np.testing.assert_allclose(state.predicted, (weights * predictions).sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(state.weighing.shares, shares, atol=1e-10)
    np.testing.assert_allclose(shares.sum(axis=0), 1)
    assert weights.max(axis=0).min() < 0.99


def test_a_forecast_has_the_spread_of_the_mixture_of_its_models(game):
    """It is the mean of the models' variances plus the variance of their means."""
    bank, rounds = EmpiricalBayesBank(GRID, "common", 1.0), game.gains.shape[1]
    fits, means = likelihoods_and_predictions(GRID, game)
    weights = normalised(fits.sum(axis=2, keepdims=True))
    (_, scale), within = history(game), np.empty_like(means)
    for k, model in enumerate(GRID):
        for r, i in np.ndindex(within.shape[1:]):
            covariance, (*ahead, prior) = joint(model, rounds, scale[:, r, i])
            told = np.linalg.solve(covariance, ahead) @ ahead
            within[k, r, i] = prior - told + model.transient_variance
    apart = (weights * means**2).sum(axis=0) - (weights * means).sum(axis=0) ** 2
    spread = bank.forecast(final_state(bank, game), 0).variance
    unit = typical_levels(game)[-1].unit
    expected = unit**2 * ((weights * within).sum(axis=0) + apart)
    np.testing.assert_allclose(spread, expected, rtol=1e-9)
    assert (unit**2 * apart > 0.01 * spread).any()


@pytest.mark.parametrize("pooling", ["expert", "common"])
@pytest.mark.parametrize("model", MODELS)
def test_one_model_is_its_kalman_filter(game, crowd, pooling, model):
    average = LearnerAlone(EmpiricalBayesBank((model,), pooling))
    alone = LearnerAlone(KalmanBank((model,)))
    np.testing.assert_array_equal(
        play_rounds(average, game, crowd(3)), play_rounds(alone, game, crowd(3))
    )

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.experts.exponential_weights import (
    ExponentialWeights,
    unshared_noise,
)
from dpol.experts.play import play_rounds, rounds
from steps import FixedBank, FixedUniform


def states(algorithm, noisy, crowd):
    return [state for state, _ in rounds(algorithm, noisy, crowd(noisy.n_replicates))]


def last(algorithm, noisy, crowd):
    return states(algorithm, noisy, crowd)[-1]


# --- By hand ---


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 4))
def test_unshared_noise_is_the_expected_variance(seed, m, n):
    """It equals sum_j w_j Sigma_jj - w' Sigma w with Sigma = X diag(eta^2) X'."""
    rng = np.random.default_rng(seed)
    actions, scale = rng.integers(0, n, (1, m)), rng.uniform(0, 3, n)
    weights = rng.dirichlet(np.ones(m), 1)
    choice = np.eye(n)[actions[0]]
    sigma = choice @ np.diag(scale**2) @ choice.T
    expected = weights[0] @ np.diag(sigma) - weights[0] @ sigma @ weights[0]
    assert unshared_noise(actions, weights, scale)[0] == pytest.approx(expected, abs=1e-12)


# --- Against plain loops ---


def plain_weights(gains, scale, share):
    """Return (T, m) weights of learners that always play their own expert, for one replicate."""
    m = gains.shape[1]
    weights, scores, variance, history = [1 / m] * m, [0.0] * m, 0.0, []
    for seen, eta in zip(gains, scale, strict=True):
        history.append(weights)
        mean = sum(w * g for w, g in zip(weights, seen, strict=True))
        spread = sum(w * (g - mean) ** 2 for w, g in zip(weights, seen, strict=True))
        noise = sum(w * (1 - w) * e**2 for w, e in zip(weights, eta, strict=True))
        variance += max(spread, noise)
        rate = math.sqrt(2 * math.log(m) / variance)
        scores = [score + g for score, g in zip(scores, seen, strict=True)]
        powers = [math.exp(rate * score) for score in scores]
        weights = [(1 - share) * power / sum(powers) + share / m for power in powers]
        scores = [math.log(weight) / rate for weight in weights]
    return np.array(history)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5])
def test_fast_equals_plain(make_noisy, crowd, share):
    rng = np.random.default_rng(6)
    gains, scale = rng.standard_normal((3, 30, 4)), rng.uniform(0, 1, (30, 4))
    algorithm = ExponentialWeights(share, (FixedBank([(0, 1, 2, 3)]),))
    played = states(algorithm, make_noisy(gains, scale), crowd)
    for r in range(3):
        weights = np.array([state.weights[r] for state in played])
        np.testing.assert_allclose(weights, plain_weights(gains[r], scale, share), atol=1e-10)


# --- What it does ---


def test_learners_are_drawn_with_their_weights(make_noisy, checks, crowd):
    """40,000 replicates of one game, error probability 1e-6; even weights are rejected."""
    noisy = make_noisy(np.tile([[0.3, 0.0, 0.2], [0.0, 0.0, 0.0]], (40_000, 1, 1)), 0.2)
    algorithm = ExponentialWeights(0.1, (FixedBank([(0, 1, 2)]),))
    weights = last(algorithm, noisy, crowd).weights[0]
    counts = np.bincount(play_rounds(algorithm, noisy, crowd(40_000))[:, 1], minlength=3)
    assert checks.frequencies(counts, weights)
    assert not checks.frequencies(counts, [1 / 3] * 3)


def test_weights_that_miss_1_by_rounding_draw_the_last_learner(make_noisy):
    """Ten weights of 1/10 add up to 1 - 2^-53, the largest uniform number of the generator."""
    assert np.full(10, 0.1).cumsum()[-1] == 1 - 2**-53
    algorithm = ExponentialWeights(learners=(FixedBank([range(10)]),))
    drawn = FixedUniform([1 - 2**-53])
    assert play_rounds(algorithm, make_noisy(np.zeros((1, 1, 10))), drawn).tolist() == [[9]]


@pytest.mark.parametrize("share", [0.0, 0.02])
@pytest.mark.parametrize("noise", [0.0, 1e6])
def test_extreme_gains_give_weights(make_noisy, crowd, share, noise):
    gains = 1e6 * np.random.default_rng(0).standard_normal((2, 200, 3))
    gains[:, 100:, 0] += 1e9
    state = last(
        ExponentialWeights(share, (FixedBank([(0, 1, 2)]),)), make_noisy(gains, noise), crowd
    )
    assert np.isfinite(state.scores).all()
    np.testing.assert_allclose(state.weights.sum(axis=1), 1)

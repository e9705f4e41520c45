from __future__ import annotations

import numpy as np
import pytest
from statsmodels.tsa.statespace.kalman_filter import KalmanFilter

from dpol.checks.learners import bank_actions
from dpol.experts.interface import LocalSetup, Observation
from dpol.experts.learners.state_space import (
    MODELS,
    KalmanBank,
    StateSpaceModel,
    advance,
    deviations_from_level,
    start,
)
from dpol.privacy.chains import Chains

KINDS = {
    "level": StateSpaceModel(0.003),
    "reverting": StateSpaceModel(0.002, 0.85),
    "transient": StateSpaceModel(0.001, 0.95, transient_variance=0.02),
    "reverting and transient": StateSpaceModel(0.002, 0.9, transient_variance=0.01),
}
every_kind = pytest.mark.parametrize("model", KINDS.values(), ids=KINDS)


@pytest.mark.parametrize("model", [model for model in MODELS if model.persistence < 1])
def test_a_deviation_that_reverts_varies_before_round_1_as_it_does_later(model):
    after = model.persistence**2 * model.variance_before + model.process_variance
    assert after == pytest.approx(model.variance_before, rel=1e-12)


def filtered(model, deviations, noise_scale, memory=None):
    """Return T + 1 states, and the innovations' errors and variances, (T, R, n)."""
    rounds, replicates, n = deviations.shape
    setup = LocalSetup(
        n_replicates=replicates,
        n_rounds=rounds,
        n_experts=n,
        gain_range=1.0,
        initial=np.zeros((replicates, n)),
        noise_scale=noise_scale,
        memory=memory,
    )
    states, innovations = [start(model, setup)], []
    for seen, scale in zip(deviations, noise_scale, strict=True):
        observation = Observation(seen, scale, fresh_scale=None if memory is None else scale)
        state, *innovation = advance(model, states[-1], seen, observation)
        states.append(state)
        innovations.append(innovation)
    errors, variances = zip(*innovations, strict=True)
    return states, np.array(errors), np.array(variances)


# --- By hand ---


def test_the_shared_level_by_hand():
    """Gains 1 and 6 with weights 1 / (3 + 1) and 1 / (0 + 1) have the level 5."""
    above = deviations_from_level(Observation(np.array([[1.0, 6.0]]), np.sqrt([[3.0, 0.0]])))
    np.testing.assert_allclose(above, [[-4.0, 1.0]])
    above = deviations_from_level(Observation(np.array([[1.0, 2.0, 6.0]]), np.zeros((1, 3))))
    np.testing.assert_allclose(above, [[-2.0, -1.0, 3.0]])


def test_luck_of_a_noisy_expert_does_not_win(make_noisy):
    """Expert 0 seems to gain most, but has 300 times the noise of expert 1."""
    for scale, expected in ((3.0, 1), (0.01, 0)):
        noisy = make_noisy([[[0.8, 0.3, 0.1], [0.0, 0.0, 0.0]]], noise_scale=[scale, 0.01, 0.01])
        assert (bank_actions(KalmanBank(), noisy)[:, 1] == expected).all()


# --- Against statsmodels, and theory ---


@every_kind
def test_equals_statsmodels(model):
    """Means, covariances and innovations agree over 40 rounds with changing noise."""
    rng = np.random.default_rng(1)
    rounds, n = 40, 3
    seen = rng.standard_normal((rounds, 2, n))
    scale = rng.uniform(0, 0.3, (rounds, n))
    scale[5] = 0.0
    states, errors, variances = filtered(model, seen, scale)
    for r in range(2):
        for i in range(n):
            theirs = KalmanFilter(k_endog=1, k_states=1, tolerance=0.0)
            theirs.bind(np.ascontiguousarray(seen[:, r, i, None]))
            theirs["design"] = theirs["selection"] = np.eye(1)
            theirs["obs_cov"] = (scale[:, i] ** 2 + model.transient_variance)[None, None]
            theirs["transition"] = [[model.persistence]]
            theirs["state_cov"] = [[model.process_variance]]
            theirs.initialize_known(np.zeros(1), np.array([[model.variance_before]]))
            result = theirs.filter()
            means = [state.mean[r, i] for state in states]
            spread = [state.variance[r, i] for state in states]
            np.testing.assert_allclose(means, result.predicted_state[0], rtol=1e-9, atol=1e-12)
            expected = result.predicted_state_cov[0, 0]
            np.testing.assert_allclose(spread, expected, rtol=1e-9, atol=1e-14)
            np.testing.assert_allclose(errors[:, r, i], result.forecasts_error[0], atol=1e-12)
            np.testing.assert_allclose(variances[:, r, i], result.forecasts_error_cov[0, 0])


MEMORY = Chains(np.array([0.2, 0.0, -0.3]), np.array([0.6, 0.8, 0.4]))


def conditioned(model, deviations, fresh, memory):
    """Return the (R, n) mean and (n,) variance of the next deviation, given all observations."""
    rounds, _, n = deviations.shape
    means, variances = np.empty(deviations.shape[1:]), np.empty(n)
    priors = [model.variance_before]
    for _ in range(rounds):
        priors.append(model.persistence**2 * priors[-1] + model.process_variance)
    s, t = np.indices((rounds + 1, rounds + 1))
    law = np.array(priors)[np.minimum(s, t)] * model.persistence ** np.abs(s - t)
    for i in range(n):
        matrix = np.zeros((rounds, rounds))  # noise by draws
        for t in range(rounds):
            matrix[t, t] = fresh[t, i]
            for s in range(t):
                matrix[t, s] = (
                    (memory.a[i] - memory.b[i]) * memory.a[i] ** (t - s - 1) * fresh[t, i]
                )
        seen = law[:-1, :-1] + matrix @ matrix.T + model.transient_variance * np.eye(rounds)
        weights = np.linalg.solve(seen, law[:-1, -1])
        means[:, i] = deviations[:, :, i].T @ weights
        variances[i] = law[-1, -1] - weights @ law[:-1, -1]
    return means, variances


@every_kind
def test_noise_with_memory_is_conditioned_on_exactly(model):
    rng = np.random.default_rng(3)
    fresh, deviations = rng.uniform(0.02, 0.2, (9, 3)), 0.1 * rng.standard_normal((9, 4, 3))
    states, errors, _ = filtered(model, deviations, fresh, MEMORY)
    for rounds in (1, 2, 9):
        means, variances = conditioned(model, deviations[:rounds], fresh[:rounds], MEMORY)
        np.testing.assert_allclose(states[rounds].mean, means, atol=1e-12)
        np.testing.assert_allclose(states[rounds].variance, np.tile(variances, (4, 1)), rtol=1e-9)
    # A filter that assumes independent noise, or a wrong a, predicts something else.
    other = Chains(MEMORY.a + 0.1, MEMORY.b)
    for wrong in (None, other):
        assert abs(filtered(model, deviations, fresh, wrong)[0][9].mean - means).max() > 1e-4
    assert np.isfinite(errors).all()


# --- No noise, and the edges ---


def test_without_noise_and_transients_the_last_winner_is_followed(draw_noisy):
    noisy = draw_noisy(np.random.default_rng(5).random((30, 5)), 0.0, 2)
    bank = KalmanBank(tuple(model for model in MODELS if not model.transient_variance))
    expected = np.argmax(noisy.gains[0, :-1], axis=1)
    for column in np.moveaxis(bank_actions(bank, noisy)[:, 1:], 1, 2).reshape(-1, 29):
        np.testing.assert_array_equal(column, expected)


def test_round_one_and_one_expert_are_expert_0(make_noisy):
    noisy = make_noisy(np.ones((2, 3, 1)), noise_scale=0.1)
    assert not bank_actions(KalmanBank(), noisy).any()
    noisy = make_noisy(np.eye(3)[None], noise_scale=0.1)
    assert (bank_actions(KalmanBank(), noisy)[:, 0] == 0).all()


def test_labels_tell_all_models_apart():
    labels = KalmanBank((*MODELS, *KINDS.values())).labels
    assert len(set(labels)) == len(MODELS) + len(KINDS)
    assert labels[2] == "kalman-reverting-0.9-0.1"
    assert labels[5] == "kalman-level-0.1"
    assert labels[7] == "kalman-level-0.001-transient-0.1"
    assert labels[-1] == "kalman-reverting-0.9-0.002-transient-0.01"

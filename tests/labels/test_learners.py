"""Private WMA and EXP3: losses, weights, regret, and the effect of other constants."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.labels.clients import Messages, scale_factor
from dpol.labels.hypotheses import HypothesisClass
from dpol.labels.learners import PrivateEXP3, PrivateWMA, Terms
from labels import plain


def exp3(masses=plain.TWO_FEATURES, T=50, epsilon=2.0, rule="exact"):
    return PrivateEXP3(HypothesisClass(masses), Terms(T, epsilon), rule)


# ---- the constants -------------------------------------------------------------------------------

BOUNDS = [("exact", math.log(4 * 50)), ("published", math.log(3 * 50))]


@pytest.mark.parametrize(("rule", "s"), BOUNDS)
def test_scores_follow_algorithm_1(rule, s):
    """-rate Ytilde_j, Ytilde_j = -c (message_j + log M - c'), K = 3, M = 4, T = 50."""
    learner = PrivateWMA(plain.HYPOTHESES, Terms(50, 1.0), rule)
    values = np.random.default_rng(0).normal(-3, 5, size=(2, 7, 3))
    scores = learner.scores(plain.about(values), np.zeros(7, dtype=int))
    offset = scale_factor(3, 1.0, 1e-6, rule) * s * (2 * math.log(50) + math.log(3))
    c = 1 / (s + 2 * offset)
    losses = [[[-c * (v + math.log(4) - offset) for v in row] for row in rows] for rows in values]
    np.testing.assert_allclose(scores, -math.sqrt(2 * math.log(3) / 50) * np.array(losses))


@pytest.mark.parametrize(("rule", "s"), BOUNDS)
def test_scores_follow_algorithm_2(rule, s):
    """At J rate c (message + log M - c'), c' = s (log T + log K + log T) / eps; 0 elsewhere.

    With the offset log M - c' at other indices, their scores would not be 0.
    """
    learner, rng = exp3(rule=rule), np.random.default_rng(0)
    index, value = rng.integers(3, size=(2, 8)), rng.normal(-3, 5, size=(2, 8))
    scores = learner.scores(Messages(value, index), np.zeros(8, dtype=int))
    offset = s * (2 * math.log(50) + math.log(3)) / 2
    c, rate = 1 / (s + 2 * offset), math.sqrt(2 * 3 * math.log(3) / 50)
    for r, t, j in np.ndindex(scores.shape):
        heard = rate * c * (value[r, t] + math.log(4) - offset) if index[r, t] == j else 0.0
        assert scores[r, t, j] == pytest.approx(heard, rel=1e-12, abs=0)


@given(plain.cases(), st.sampled_from([1, 10**4]), st.floats(0.1, 8), st.floats(-1, 1))
def test_losses_lie_in_0_to_1_unless_the_noise_is_extreme(case, times, epsilon, part):
    """Noise up to c' is not extreme: a run exceeds it with probability at most 1 / T."""
    masses, T = case[0], times * case[1]
    learner, (_, K, M) = exp3(masses, T, epsilon), masses.shape
    clipping = learner.clipping
    logs = clipping.log_cells
    losses = learner.losses(logs[np.isfinite(logs)] + part * learner.offset)
    assert ((losses >= -1e-9) & (losses <= 1 + 1e-9)).all()
    # By the union bound: K T messages, tails exp(-c' / b), b <= s / eps.
    b = clipping.bound / epsilon
    assert K * T * math.exp(-learner.offset / b) == pytest.approx(1 / T, rel=1e-6)
    # At likelihood 1/M, noise above c' makes a loss negative; far lower, noise below -c' exceeds 1.
    top = -math.log(M)
    assert learner.losses(np.array([top + 1.001 * learner.offset]))[0] < 0
    assert learner.losses(np.array([top - clipping.bound - 1.001 * learner.offset]))[0] > 1

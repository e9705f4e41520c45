"""The divided budget: the law of its vectors, and games beside a plain implementation."""

from __future__ import annotations

import numpy as np

import experts_plain as plain
from dpol.core.randomness import ReplicateGenerators
from dpol.experts.interface import Observation
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.experts.play import play_rounds
from dpol.experts.split_budget import SplitBudget, split

WINDOWS, PENALTIES = (3, 8), {"weak": 0.1, "strong": 10.0}
SMALL = SplitBudget((RidgeBank(WINDOWS, PENALTIES), LeaderBank()))


def test_each_vector_has_independent_noise_of_its_share():
    """The covariance of the vectors given unit noise on the gains, found by unit vectors."""
    count = 6

    class Unit:
        n_replicates = count

        def standard_normal(self, *shape):
            return np.eye(count).reshape(count, *shape)

    parts = split(Observation(np.zeros((count, 1)), np.ones(1)), count, Unit())
    factor = np.concatenate([part.gains for part in parts], axis=1)
    shared = np.ones((count, count))  # of the noisy vector, which is in each of them
    np.testing.assert_allclose(factor.T @ factor + shared, count * np.eye(count), atol=1e-12)
    np.testing.assert_allclose([part.noise_scale for part in parts], np.sqrt(count))


def test_fast_equals_plain(draw_noisy):
    noisy = draw_noisy(np.random.default_rng(1).random((30, 4)), 0.2, 3)
    made = [[np.random.default_rng(seed) for seed in range(3)] for _ in range(2)]
    fast = play_rounds(SMALL, noisy, ReplicateGenerators(tuple(made[0])))
    learners = plain.paper_learners(WINDOWS, PENALTIES.values())
    for r, rng in enumerate(made[1]):
        game = noisy.gains[r], noisy.initial[r], noisy.noise_scale
        assert fast[r].tolist() == plain.split_budget(*game, learners, rng)

"""RW-Meta and the divided budget, beside plain implementations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import experts_plain as plain
from dpol.core.randomness import ReplicateGenerators, replicate_generators
from dpol.experts.interface import Observation
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import PENALTIES, RidgeBank
from dpol.experts.meta import RWMeta, decorrelating_noise, shared_noise
from dpol.experts.play import play_rounds
from dpol.experts.split_budget import SplitBudget, split
from dpol.noise import privatize

WINDOWS, STRENGTHS = (3, 8), {"weak": 0.1, "strong": 10.0}
BANKS = (RidgeBank(WINDOWS, STRENGTHS), LeaderBank())
FORTY = RWMeta(learners=(RidgeBank((3, 5, 8), {str(k): k / 4 for k in range(1, 14)}), LeaderBank()))
ALIKE = RWMeta(0.0, learners=(RidgeBank((8,), {"weak": 0.1, "medium": 1.0, "strong": 10.0}),))
"""Its learners agree in two rounds: then Sigma* is 0 and the first of them leads, noisy or not."""


@pytest.mark.parametrize(("m", "n", "rounds"), [(5, 3, 6), (40, 6, 40)])
@given(seed=st.integers(0, 10_000), least=st.sampled_from([0.0, 0.5, 10.0, 1e3, 1e5]))
def test_fresh_noise_has_exactly_the_covariance_tau_minus_sigma_star(m, n, rounds, seed, least):
    """Of learners that prefer popular experts; unit vectors find what turns normals into y."""
    rng = np.random.default_rng(seed)
    actions = rng.choice(n, size=(rounds, 1, m), p=rng.dirichlet(np.ones(n))).astype(np.int32)
    scales = rng.uniform(0.1, 3.0, size=(rounds, n))
    covariance = sum(shared_noise(a, s)[0] for a, s in zip(actions, scales, strict=True))
    tau, expected = plain.fresh_covariance(covariance, least)
    factor = decorrelating_noise(np.tile(covariance, (m, 1, 1)), least, np.eye(m)).T
    np.testing.assert_allclose(factor @ factor.T, expected, atol=1e-9 * max(tau, 1))


@pytest.mark.parametrize(
    "algorithm",
    [*(RWMeta(floor, way, BANKS) for floor in (0.0, 2.0) for way in (True, False)), FORTY, ALIKE],
    ids=["plain-0", "correlated-0", "plain-2", "correlated-2", "forty", "alike"],
)
@pytest.mark.parametrize("mu", [0.2, math.inf])
@pytest.mark.parametrize("noise", ["isotropic", "capacity"])
def test_fast_equals_plain(random_stream, algorithm, mu, noise):
    """The plain version of every replicate plays the same actions from the same normals."""
    noisy = privatize(random_stream(25, 5), noise, mu, seed=3, replicates=range(2))
    fast = play_rounds(algorithm, noisy, replicate_generators(3, (), range(2), "y"))
    twins = replicate_generators(3, (), range(2), "y").generators
    ridge = algorithm.learners[0]
    for r in range(2):
        expected = plain.rw_meta(
            noisy.gains[r],
            noisy.initial[r],
            noisy.noise_scale,
            plain.paper_learners(ridge.windows, ridge.penalties.values())[: algorithm.n_learners],
            exploration_floor=algorithm.exploration_floor,
            decorrelate=algorithm.decorrelate,
            rng=twins[r],
        )
        assert fast[r].tolist() == expected
        assert len(set(expected)) > 1


def test_the_papers_learners_and_origin():
    *ridges, last = [label for bank in RWMeta().learners for label in bank.labels]
    assert ridges[:4] == ["ridge-w8-weak", "ridge-w8-medium", "ridge-w8-strong", "ridge-w16-weak"]
    assert (len({*ridges}), ridges[-1], last) == (12, "ridge-w64-strong", "rw-ftpl")
    assert dict(PENALTIES) == {"weak": 0.1, "medium": 1.0, "strong": 10.0}
    assert RWMeta().origin == RWMeta(2).origin == "paper"
    for other in (RWMeta(0.0), RWMeta(decorrelate=False), RWMeta(learners=BANKS)):
        assert other.origin == "dpol"


# ---- the divided budget --------------------------------------------------------------------------


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


def test_a_divided_budget_equals_the_plain_one(draw_noisy):
    noisy = draw_noisy(np.random.default_rng(1).random((30, 4)), 0.2, 3)
    made = [[np.random.default_rng(seed) for seed in range(3)] for _ in range(2)]
    fast = play_rounds(SplitBudget(BANKS), noisy, ReplicateGenerators(tuple(made[0])))
    learners = plain.paper_learners(WINDOWS, STRENGTHS.values())
    for r, rng in enumerate(made[1]):
        game = noisy.gains[r], noisy.initial[r], noisy.noise_scale
        assert fast[r].tolist() == plain.split_budget(*game, learners, rng)

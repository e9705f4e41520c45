from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import experts_plain as plain
from dpol.core.randomness import replicate_generators
from dpol.experts.interface import LearnerBank
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.experts.meta import RWMeta, decorrelating_noise, shared_noise
from dpol.experts.play import observations, play_rounds, setup_of
from dpol.noise import privatize
from steps import FixedBank, final_state

WINDOWS, PENALTIES = (3, 8), {"weak": 0.1, "strong": 10.0}
BANKS = (RidgeBank(WINDOWS, PENALTIES), LeaderBank())
seeds = st.integers(0, 10_000)


@dataclass(frozen=True)
class TurncoatBank(LearnerBank[Any]):
    """Two learners: whoever leads by noisy gains takes action 1, the other one action 0."""

    labels = ("one", "two")

    def init(self, setup: Any) -> Any:
        return np.zeros((setup.n_replicates, 2)), np.zeros((setup.n_replicates, 2), dtype=int)

    def step(self, state: Any, observation: Any) -> Any:
        gains, actions = state
        if observation is not None:
            gains = gains + np.take_along_axis(observation.gains, actions, axis=1)
        leader = gains.argmax(axis=1)
        actions = (np.arange(2) == leader[:, None]).astype(np.int32)
        return (gains, actions), actions


def random_covariances(seed, count=4, m=5, n=3, rounds=6):
    """Sigma of learners who act at random, with a noise scale for each expert and round."""
    rng = np.random.default_rng(seed)
    actions = rng.integers(0, n, size=(rounds, count, m)).astype(np.int32)
    scales = rng.uniform(0.1, 3.0, size=(rounds, n))
    return sum(shared_noise(a, s) for a, s in zip(actions, scales, strict=True))


def factor_of(covariance, least):
    """The matrix that turns standard normals into y, by feeding it unit vectors."""
    m = len(covariance)
    return decorrelating_noise(np.tile(covariance, (m, 1, 1)), least, np.eye(m)).T


def learner_regret(bank, noisy, raw, actions):
    """(R,) regret against the best learner."""
    state, observation, columns = bank.init(setup_of(noisy)), None, []
    for revealed in observations(noisy):
        state, own = bank.step(state, observation)
        columns.append(own)
        observation = revealed
    rounds = np.arange(len(raw))
    learners = raw[rounds[:, None, None], np.stack(columns)].sum(axis=0)
    return learners.max(axis=1) - raw[rounds, actions].sum(axis=1)


@given(seeds, st.integers(1, 6), st.integers(1, 5))
def test_shared_noise_is_the_matrix_product(seed, m, n):
    rng = np.random.default_rng(seed)
    actions = rng.integers(0, n, size=(3, m)).astype(np.int32)
    scale = rng.uniform(0, 3, size=n)
    for own, shared in zip(actions, shared_noise(actions, scale), strict=True):
        choice = np.eye(n)[own]
        np.testing.assert_allclose(shared, choice @ np.diag(scale**2) @ choice.T, rtol=1e-14)


@given(seeds, st.sampled_from([0.0, 0.5, 10.0, 1000.0]))
def test_fresh_noise_has_exactly_the_covariance_tau_minus_sigma_star(seed, least):
    for covariance in random_covariances(seed):
        tau, expected = plain.fresh_covariance(covariance, least)
        factor = factor_of(covariance, least)
        np.testing.assert_allclose(factor @ factor.T, expected, atol=1e-9 * max(tau, 1))


def test_learners_that_share_noise_raise_tau_above_the_floor():
    """No learner's variance reaches the floor of 11, but lambda_max(Sigma*) does.

    Two groups of three learners with variance 10: Sigma* = 10 (block ones) - 5 (ones), whose
    largest eigenvalue, 30, belongs to the difference of the groups.
    """
    groups = np.repeat([0, 1], 3)
    covariance = 10.0 * (groups[:, None] == groups)
    factor = factor_of(covariance, 11.0)
    total = factor @ factor.T + covariance - 5.0
    np.testing.assert_allclose(total, 30 * np.eye(6), atol=1e-8)


def test_without_noise_in_the_gains_only_the_floor_remains():
    nothing = np.zeros((3, 4, 4))
    normals = np.random.default_rng(0).standard_normal((3, 4))
    assert not decorrelating_noise(nothing, 0.0, normals).any()
    np.testing.assert_allclose(decorrelating_noise(nothing, 9.0, normals), 3 * normals)


def test_a_replicate_of_a_mixed_block_gets_its_own_tau():
    """One covariance needs an eigenvalue, one does not, one is zero."""
    small, large = 0.01 * np.eye(3), np.diag([50.0, 1.0, 1.0])
    covariance = np.stack([small, large, np.zeros((3, 3))])
    normals = np.random.default_rng(0).standard_normal((3, 3))
    together = decorrelating_noise(covariance, 4.0, normals)
    for r in range(3):
        own = decorrelating_noise(covariance[r : r + 1], 4.0, normals[r : r + 1])
        np.testing.assert_array_equal(own[0], together[r])


def test_state_counts_gains_and_covariance_by_hand(make_noisy, crowd):
    noisy = make_noisy([[[1.0, 5.0], [2.0, 7.0]]], noise_scale=[[1.0, 2.0], [3.0, 4.0]])
    bank = FixedBank(((0, 1, 1), (0, 0, 1), (0, 0, 0)))
    state = final_state(RWMeta(learners=(bank,)), noisy, crowd(1))
    assert state.rounds == 2
    np.testing.assert_array_equal(state.gains, [[3.0, 7.0, 12.0]])
    np.testing.assert_array_equal(
        state.covariance, [[[10.0, 9.0, 0.0], [9.0, 13.0, 4.0], [0.0, 4.0, 20.0]]]
    )


def test_without_decorrelation_the_leading_learner_is_played_by_hand(make_noisy, crowd):
    # Learners: always 0; always 1; 2, 2, 0, 0. Tie in round 1, then learner 2, 1, and 0 by a tie.
    bank = FixedBank(((0, 1, 2), (0, 1, 2), (0, 1, 0), (0, 1, 2)))
    gains = [[0.0, 0.0, 1.0], [0.0, 3.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    algorithm = RWMeta(decorrelate=False, learners=(bank,))
    assert play_rounds(algorithm, make_noisy([gains]), crowd(1)).tolist() == [[0, 2, 1, 2]]


def test_round_one_plays_the_first_learner_and_draws_nothing(draw_noisy):
    noisy = draw_noisy(np.zeros((1, 3)), 1.0, 4)
    generators = replicate_generators(1, (), range(4), "none")
    before = [generator.bit_generator.state for generator in generators.generators]
    assert not play_rounds(RWMeta(), noisy, generators).any()
    assert [generator.bit_generator.state for generator in generators.generators] == before


@pytest.mark.parametrize("decorrelate", [True, False])
@pytest.mark.parametrize("floor", [0.0, 2.0])
@pytest.mark.parametrize("mu", [0.5, math.inf])
@pytest.mark.parametrize("noise", ["isotropic", "capacity"])
def test_fast_equals_plain(random_stream, floor, decorrelate, mu, noise):
    """Exactly the same actions from the same normals, the paper's learners on a small scale."""
    noisy = privatize(random_stream(25, 5), noise, mu, seed=3, replicates=range(4))
    algorithm = RWMeta(floor, decorrelate, BANKS)
    fast = play_rounds(algorithm, noisy, replicate_generators(3, (), range(4), "y"))
    twins = replicate_generators(3, (), range(4), "y").generators
    for r in range(4):
        expected = plain.rw_meta(
            noisy.gains[r],
            noisy.initial[r],
            noisy.noise_scale,
            plain.paper_learners(WINDOWS, PENALTIES.values()),
            exploration_floor=floor,
            decorrelate=decorrelate,
            rng=twins[r],
        )
        assert fast[r].tolist() == expected


class NoNoise:
    def standard_normal(self, shape):
        return np.zeros(shape)


def paper_way(stream, noisy, r, rng, floor=2.0, windows=WINDOWS, penalties=PENALTIES):
    return plain.rw_meta_paper_way(
        stream,
        noisy.noise_scale,
        noisy.gains[r],
        noisy.initial[r],
        windows,
        tuple(penalties.values()),
        floor,
        rng,
    )


def test_the_papers_way_without_fresh_noise_plays_the_same_actions(random_stream, crowd):
    stream = random_stream(30, 5)
    noisy = privatize(stream, "capacity", 0.5, seed=3, replicates=range(4))
    fast = play_rounds(RWMeta(decorrelate=False, learners=BANKS), noisy, crowd(4))
    for r in range(4):
        actions, gains = paper_way(stream, noisy, r, NoNoise())
        np.testing.assert_array_equal(actions, fast[r])
        np.testing.assert_array_equal(gains, stream.gains[np.arange(30), fast[r]])


SCHEDULE = ((0, 0, 0, 1), (0, 0, 2, 1), (2, 2, 2, 1), (0, 0, 1, 1), (0, 1, 2, 3))


@pytest.mark.parametrize("floor", [0.0, 2.0])
def test_learner_gains_plus_fresh_noise_are_independent_with_variance_tau(
    make_noisy, checks, floor
):
    """20,000 replicates of learners that see nothing; error probability 1e-6.

    X z + y has covariance tau I but for a shift that all learners share; seen in an
    orthonormal basis of the differences it is tau I. Rejected without y.
    """
    rng = np.random.default_rng(2)
    scale = np.array([0.5, 1.0, 1.5, 2.0])
    noise = scale * rng.standard_normal((20_000, 4, 4))
    algorithm = RWMeta(floor, learners=(FixedBank(SCHEDULE),))
    noisy = make_noisy(noise, scale)
    state = final_state(algorithm, noisy, replicate_generators(1, (), range(20_000), "y"))
    fresh = decorrelating_noise(
        state.covariance, floor * state.rounds, rng.standard_normal((20_000, 4))
    )
    tau, _ = plain.fresh_covariance(
        plain.learner_covariance(SCHEDULE, noisy.noise_scale), 4 * floor
    )
    basis = np.linalg.svd(np.ones((1, 4)))[2][1:].T / math.sqrt(tau)
    assert checks.columns_are_unit_normals((state.gains + fresh) @ basis)
    assert not checks.columns_are_unit_normals(state.gains @ basis)
    assert not checks.columns_are_unit_normals((state.gains + 1.1 * fresh) @ basis)


@pytest.mark.parametrize("floor", [0.0, 2.0])
def test_equal_learners_are_played_equally_often(draw_noisy, crowd, checks, floor):
    """All gains are equal, so only noise decides: each of four learners has probability 1/4.

    In the last round the learners act differently. 40,000 replicates, error probability
    1e-6. Without decorrelation the two learners that share their noise are played less.
    """
    noisy = draw_noisy(np.full((5, 4), 0.5), 2.0, 40_000)

    def counts(decorrelate):
        algorithm = RWMeta(floor, decorrelate, (FixedBank(SCHEDULE),))
        return np.bincount(play_rounds(algorithm, noisy, crowd(40_000))[:, 4], minlength=4)

    assert checks.frequencies(counts(True), [0.25] * 4)
    assert not checks.frequencies(counts(False), [0.25] * 4)


def bound(eta, rounds):
    """Theorem 3 with two learners that always act differently: lambda_max(Sigma*) = eta^2 t."""
    return (max(math.sqrt(2), eta) + math.sqrt(2)) * math.sqrt(2 * rounds * math.log(2))


def test_learners_that_see_the_noise_break_the_regret_bound(draw_noisy, crowd, checks):
    """The mean regret is 526 up to chance (error probability 1e-6) and far above the bound."""
    raw = np.tile([1.0, 0.0], (1000, 1))
    noisy = draw_noisy(raw, 2.0, 50)
    bank = TurncoatBank()
    regret = learner_regret(
        bank, noisy, raw, play_rounds(RWMeta(learners=(bank,)), noisy, crowd(50))
    )
    assert bound(2.0, 1000) == pytest.approx(127, abs=0.5)
    assert checks.mean(regret, 526)
    assert regret.min() > 3 * bound(2.0, 1000)


def test_learners_that_see_nothing_keep_the_regret_bound(draw_noisy, crowd):
    """Mean regret plus 5 standard errors; two learners, each always with its own expert."""
    raw = np.tile([1.0, 0.0], (1000, 1))
    noisy = draw_noisy(raw, 2.0, 50)
    bank = FixedBank(((1, 0),) * 1000)
    regret = learner_regret(
        bank, noisy, raw, play_rounds(RWMeta(learners=(bank,)), noisy, crowd(50))
    )
    assert regret.mean() > 0
    assert regret.mean() + 5 * regret.std() / math.sqrt(50) < bound(2.0, 1000)


def test_the_papers_learners_and_origin():
    assert RWMeta().n_learners == 13
    assert [label for bank in RWMeta().learners for label in bank.labels][-1] == "rw-ftpl"
    assert RWMeta().origin == RWMeta(2).origin == "paper"
    for other in (RWMeta(0.0), RWMeta(decorrelate=False), RWMeta(learners=BANKS)):
        assert other.origin == "ours"

from __future__ import annotations

import dataclasses
import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import experts_plain as plain
from dpol.core.randomness import replicate_generators
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.experts.meta import RWMeta, decorrelating_noise, shared_noise
from dpol.experts.play import observations, play_rounds, setup_of
from dpol.noise import NoisyGains, privatize
from dpol.privacy.guarantee import NO_PRIVACY
from steps import FixedBank, final_state

WINDOWS, PENALTIES = (3, 8), {"weak": 0.1, "strong": 10.0}
BANKS = (RidgeBank(WINDOWS, PENALTIES), LeaderBank())
FORTY = RWMeta(learners=(RidgeBank((3, 5, 8), {str(k): k / 4 for k in range(1, 14)}), LeaderBank()))
seeds = st.integers(0, 10_000)


def covariances(seed, m, count=4, n=6, rounds=40):
    """Return Sigma of learners that prefer popular experts, with other noise in every round."""
    rng = np.random.default_rng(seed)
    popular = rng.dirichlet(np.ones(n))
    scales = rng.uniform(0.1, 3.0, size=(rounds, n))
    actions = rng.choice(n, size=(rounds, count, m), p=popular).astype(np.int32)
    return sum(shared_noise(a, s) for a, s in zip(actions, scales, strict=True))


def factor_of(covariance, least):
    """Return the matrix that turns standard normals into y, found by unit vectors."""
    m = len(covariance)
    return decorrelating_noise(np.tile(covariance, (m, 1, 1)), least, np.eye(m)).T


@given(seeds, st.integers(1, 6), st.integers(1, 5))
def test_shared_noise_is_the_matrix_product(seed, m, n):
    rng = np.random.default_rng(seed)
    actions = rng.integers(0, n, size=(3, m)).astype(np.int32)
    scale = rng.uniform(0, 3, size=n)
    for chosen, shared in zip(actions, shared_noise(actions, scale), strict=True):
        choice = np.eye(n)[chosen]
        np.testing.assert_allclose(shared, choice @ np.diag(scale**2) @ choice.T, rtol=1e-14)


@pytest.mark.parametrize(("m", "n", "rounds"), [(5, 3, 6), (40, 6, 40)])
@given(seed=seeds, least=st.sampled_from([0.0, 0.5, 10.0, 1e3, 1e5]))
def test_fresh_noise_has_exactly_the_covariance_tau_minus_sigma_star(m, n, rounds, seed, least):
    (covariance,) = covariances(seed, m, count=1, n=n, rounds=rounds)
    tau, expected = plain.fresh_covariance(covariance, least)
    factor = factor_of(covariance, least)
    np.testing.assert_allclose(factor @ factor.T, expected, atol=1e-9 * max(tau, 1))


def test_learners_that_share_noise_raise_tau_above_the_floor():
    """No learner's variance reaches the floor of 11, but lambda_max(Sigma*) does.

    For two groups of three learners with variance 10, Sigma* = 10 (block ones) - 5 (ones). Its
    largest eigenvalue, 30, belongs to the difference of the groups.
    """
    groups = np.repeat([0, 1], 3)
    covariance = 10.0 * (groups[:, None] == groups)
    factor = factor_of(covariance, 11.0)
    total = factor @ factor.T + covariance - 5.0
    np.testing.assert_allclose(total, 30 * np.eye(6), atol=1e-8)


@pytest.mark.parametrize(
    "covariance",
    [
        # One matrix needs an eigenvalue, one does not, and one is zero.
        np.stack([0.01 * np.eye(3), np.diag([50.0, 1.0, 1.0]), np.zeros((3, 3))]),
        covariances(0, 40, 7),
    ],
    ids=["mixed", "forty"],
)
def test_a_replicate_does_not_depend_on_the_others_of_its_block(covariance):
    count, m, _ = covariance.shape
    normals = np.random.default_rng(0).standard_normal((count, m))
    together = decorrelating_noise(covariance, 4.0, normals)
    for r in range(count):
        alone = decorrelating_noise(covariance[r : r + 1], 4.0, normals[r : r + 1])
        np.testing.assert_array_equal(alone[0], together[r])


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


def plays_of_the_leader(algorithm, lead, crowd, replicates=40_000):
    """Return how often (T, 2) each of two learners is played; gains are `lead` and 0, no noise."""
    bank = FixedBank(((0, 1),))
    gains = np.tile([lead, 0.0], (6, 1))
    noisy = NoisyGains(
        initial=np.zeros((replicates, 2)),
        gains=np.broadcast_to(gains, (replicates, *gains.shape)),
        noise_scale=np.zeros(gains.shape),
        gain_range=lead,
        guarantee=NO_PRIVACY,
    )
    played = play_rounds(dataclasses.replace(algorithm, learners=(bank,)), noisy, crowd(replicates))
    return np.stack([(played == action).sum(axis=0) for action in (0, 1)], axis=1)


def leads(variance):
    """Return P(leader is played) in rounds 1..6: its lead is t - 1, a score's variance is given."""
    return [NormalDist().cdf((t - 1) / math.sqrt(2 * variance(t))) for t in range(1, 7)]


@pytest.mark.parametrize("floor", [2.0, 0.5])
@pytest.mark.parametrize("lead", [1.0, 3.0])
def test_the_floor_of_round_t_is_f_r_squared_t(checks, crowd, floor, lead):
    """By hand: the leader of round t is played with probability Phi((t - 1)/sqrt(2 f t)).

    40,000 replicates, error probability 1e-6 per round. A floor of f r^2 (t - 1), which leaves
    round 1 without noise, or of f r^2 (t + 1) is rejected.
    """

    counts = plays_of_the_leader(RWMeta(floor), lead, crowd)

    def fits(variance):
        pairs = zip(counts, leads(variance), strict=True)
        return all(checks.frequencies(row, [share, 1 - share]) for row, share in pairs)

    assert fits(lambda t: floor * t)
    assert not fits(lambda t: floor * max(t - 1, 1e-3))
    assert not fits(lambda t: floor * (t + 1))


@pytest.mark.parametrize("scale", [0.0, 0.7])
def test_without_any_perturbation_ties_go_to_the_first_learner(make_noisy, crowd, scale):
    """With floor 0, learners that agreed so far have Sigma* = 0 and equal gains, noisy or not."""
    bank = FixedBank((*[(2, 2, 2, 2, 2)] * 3, (3, 0, 1, 2, 0)))
    noise = scale * np.random.default_rng(0).standard_normal((200, 4, 5))
    noisy = make_noisy(noise, np.array([1.0, 0.3, scale, 0.1, 0.2]) if scale else 0.0)
    played = play_rounds(RWMeta(0.0, learners=(bank,)), noisy, crowd(200))
    assert (played[:, 3] == 3).all()
    perturbed = play_rounds(RWMeta(2.0, learners=(bank,)), noisy, crowd(200))
    assert set(perturbed[:, 3]) == {0, 1, 2, 3}


def test_in_round_one_rw_ftpl_leads_by_its_initial_draw_and_any_learner_is_played(draw_noisy):
    """A tie of the paper's learners: the ridges play 0, RW-FTPL the largest of z_0."""
    noisy = draw_noisy(np.zeros((1, 3)), 1.0, 2000)
    played = play_rounds(RWMeta(), noisy, replicate_generators(1, (), range(2000), "y"))[:, 0]
    leaders = noisy.initial.argmax(axis=1)
    assert set(played[leaders == 0]) == {0}
    followed = (played == leaders)[leaders > 0]
    assert (played[leaders > 0][~followed] == 0).all()
    # One learner in thirteen: 6 standard errors.
    assert abs(followed.mean() - 1 / 13) < 6 * math.sqrt(12) / 13 / math.sqrt(len(followed))


def test_normals_drawn_ahead_are_those_of_a_game_without_an_end(random_stream):
    """A game without an end draws round by round; no normal is drawn beyond the last round."""
    noisy = privatize(random_stream(41, 5), "isotropic", 0.2, seed=3, replicates=range(3))
    ahead, one = (replicate_generators(3, (), range(3), "y") for _ in range(2))
    algorithm, actions, observation = RWMeta(learners=BANKS), [], None
    state = algorithm.init(dataclasses.replace(setup_of(noisy), n_rounds=0))
    for revealed in observations(noisy):
        state, chosen = algorithm.step(state, observation, one)
        assert state.normals.shape[1] == 0
        actions.append(chosen)
        observation = revealed
    np.testing.assert_array_equal(play_rounds(algorithm, noisy, ahead), np.transpose(actions))
    for a, b in zip(ahead.generators, one.generators, strict=True):
        assert a.bit_generator.state == b.bit_generator.state


@pytest.mark.parametrize(
    "algorithm",
    [*(RWMeta(floor, way, BANKS) for floor in (0.0, 2.0) for way in (True, False)), FORTY],
    ids=["plain-0", "correlated-0", "plain-2", "correlated-2", "forty"],
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
            plain.paper_learners(ridge.windows, ridge.penalties.values()),
            exploration_floor=algorithm.exploration_floor,
            decorrelate=algorithm.decorrelate,
            rng=twins[r],
        )
        assert fast[r].tolist() == expected
        assert len(set(expected)) > 1


SCHEDULE = ((0, 0, 0, 1), (0, 0, 2, 1), (2, 2, 2, 1), (0, 0, 1, 1), (0, 1, 2, 3))


@pytest.mark.parametrize("floor", [0.0, 2.0])
def test_learner_gains_plus_fresh_noise_are_independent_with_variance_tau(
    make_noisy, checks, floor
):
    """20,000 replicates of learners that see nothing, error probability 1e-6.

    X z + y has covariance tau I except for a shift that all learners share; in an
    orthonormal basis of the differences it is tau I. Without y this is rejected.
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
    1e-6. Without decorrelation, the two learners with shared noise are played less.
    """
    noisy = draw_noisy(np.full((5, 4), 0.5), 2.0, 40_000)

    def counts(decorrelate):
        algorithm = RWMeta(floor, decorrelate, (FixedBank(SCHEDULE),))
        return np.bincount(play_rounds(algorithm, noisy, crowd(40_000))[:, 4], minlength=4)

    assert checks.frequencies(counts(True), [0.25] * 4)
    assert not checks.frequencies(counts(False), [0.25] * 4)


def test_the_papers_learners_and_origin():
    assert RWMeta().n_learners == 13
    assert [label for bank in RWMeta().learners for label in bank.labels][-1] == "rw-ftpl"
    assert RWMeta().origin == RWMeta(2).origin == "paper"
    for other in (RWMeta(0.0), RWMeta(decorrelate=False), RWMeta(learners=BANKS)):
        assert other.origin == "ours"

"""Central algorithms beside plain versions: leaders of released sums, the tree, limited updates."""

import math

import numpy as np
import pytest
from scipy import special

import experts_plain as plain
from dpol.core.randomness import ReplicateGenerators
from dpol.experts.interface import CuratorSetup
from dpol.experts.limited_updates import LimitedUpdates
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.noisy_max import NoisyMax
from dpol.experts.play import RawGains, guarantee_of, play_rounds, setup_of
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.noise import CENTRAL_NOISES
from dpol.privacy.gaussian_dp import implied_mu, pure_epsilon
from dpol.privacy.matrix_mechanism import decayed_sums
from dpol.privacy.tree_noise import tree_levels
from lazy_plain import Tape, largest_mu
from replicates import many

T, N, R = 12, 4, 50


def scores_of(algorithm, gains, noise):
    """Return the (T, R, n) scores that choose the leader of rounds 2, ..., T + 1, by rounds."""
    prefix = gains.cumsum(axis=0)[:, None] + noise
    if isinstance(algorithm, NoisyMax):
        sums = [gains[max(0, t + 1 - algorithm.window) : t + 1].sum(axis=0) for t in range(T)]
        return np.array(sums)[:, None] + noise
    if algorithm.decay < 1:
        powers = [algorithm.decay ** np.arange(t + 1)[::-1] for t in range(T)]
        return np.array([p @ gains[: t + 1] for t, p in enumerate(powers)])[:, None] + noise
    window = algorithm.window or T + 1
    return np.array([prefix[t] - (prefix[t - window] if t >= window else 0) for t in range(T)])


ALGORITHMS = {
    "prefix": MatrixFTPL(),
    "window 1": MatrixFTPL(window=1),
    "window 4": MatrixFTPL(window=4),
    "window 20": MatrixFTPL(window=20),
    "discounted": MatrixFTPL(decay=0.8),
    "noisy max": NoisyMax(window=3),
    "noisy max of one": NoisyMax(window=1),
}


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
@pytest.mark.parametrize("mu", [2.0, math.inf])
@pytest.mark.parametrize("noise", CENTRAL_NOISES)
def test_leaders_of_released_sums_equal_plain_ones(random_stream, algorithm, noise, mu):
    source = RawGains(random_stream(T, N), mu, R, noise=noise)
    noise = algorithm.mechanism(setup_of(source)).noise(many(R))
    scores = scores_of(algorithm, source.stream.gains, noise)
    expected = np.vstack([np.zeros((1, R), int), scores[:-1].argmax(axis=2)])
    np.testing.assert_array_equal(play_rounds(algorithm, source, many(R)), expected.T)


def test_each_has_its_factorization():
    for made, expected in (
        (MatrixFTPL(window=5).factorization(7), decayed_sums(7)),
        (MatrixFTPL(decay=0.7).factorization(7), decayed_sums(7, 0.7)),
    ):
        np.testing.assert_array_equal(made.left, expected.left)
    assert NoisyMax(window=3).factorization(7).column_norms[0] == pytest.approx(math.sqrt(3))


def test_a_window_with_decay_is_refused():
    with pytest.raises(ValueError, match="not both"):
        MatrixFTPL(window=2, decay=0.9)


# ---- the tree ------------------------------------------------------------------------------------


LEVELS = {1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 9: 4, 40: 6, 148: 8}
LARGEST = math.sqrt(2) / 10  # Sensitivity of ten beds.


@pytest.mark.parametrize(("rounds", "levels"), LEVELS.items())
def test_levels_are_the_most_nodes_that_a_round_really_enters(rounds, levels):
    most, entered = plain.most_nodes_of_a_round(rounds)
    assert tree_levels(rounds) == most == levels
    assert entered[:1] == ([levels] if levels else [])


@pytest.mark.parametrize("noise", ["isotropic", "capacity"])
@pytest.mark.parametrize("objective", ["min-noise", "min-regret"])
@pytest.mark.parametrize("rounds", [1, 2, 5, 9, 40])
def test_the_tree_equals_the_plain_one(random_stream, objective, rounds, noise):
    """The plain game draws nodes one by one; prefixes share nodes and are padded."""
    stream, replicates = random_stream(rounds, 5), 20
    generators = ReplicateGenerators(tuple(map(np.random.default_rng, range(replicates))))
    source = RawGains(stream, 0.7, replicates, noise=noise)
    fast = play_rounds(TreeFTPL(objective), source, generators)
    moved = math.sqrt(2) / stream.capacity.min(axis=0)
    if noise == "isotropic":
        moved = np.full(5, moved.max())
    least = 0 if objective == "min-noise" else math.sqrt(rounds)
    total = np.maximum(moved * LEVELS[rounds] / 0.7, least)
    for seed in range(replicates):
        rng = np.random.default_rng(seed)
        expected = plain.tree_ftpl(stream.gains, total, LEVELS[rounds], rng)
        assert fast[seed].tolist() == expected


@pytest.mark.parametrize(
    ("objective", "rounds", "mu", "gain_range", "scale", "achieved"),
    [
        ("min-noise", 148, 0.5, 1.0, 8 * LARGEST / 0.5, 0.5),
        ("min-noise", 148, math.inf, 1.0, 0.0, math.inf),
        ("min-noise", 1, 0.5, 1.0, 0.0, 0.0),
        ("min-regret", 148, 0.5, 1.0, math.sqrt(148), 8 * LARGEST / math.sqrt(148)),
        ("min-regret", 148, math.inf, 1.0, math.sqrt(148), 8 * LARGEST / math.sqrt(148)),
        ("min-regret", 148, 0.05, 1.0, 8 * LARGEST / 0.05, 0.05),
        ("min-regret", 148, 0.5, 3.0, 3 * math.sqrt(148), 8 * LARGEST / (3 * math.sqrt(148))),
        ("min-regret", 1, math.inf, 1.0, 1.0, 0.0),
    ],
)
def test_scale_and_mu_of_the_tree_by_hand(objective, rounds, mu, gain_range, scale, achieved):
    tree, facts = TreeFTPL(objective), {"n_rounds": rounds, "mu": mu, "gain_range": gain_range}
    moved = {"sensitivity": LARGEST, "largest_change": LARGEST}
    setup = CuratorSetup(n_replicates=1, n_experts=3, **facts, **moved)
    assert tree.init(setup).total_scale == pytest.approx(scale)
    assert tree.achieved_mu(setup) == pytest.approx(achieved)


# ---- limited updates -----------------------------------------------------------------------------


def block_by_block(gains, uniforms, scale):
    """Return the actions of one game; each block reads n uniform numbers, then skips one."""
    T, n = gains.shape
    tape, actions, seen = iter(uniforms), [], np.zeros(n)
    while len(actions) < T:
        noise = [-math.log(-math.log(1 - next(tape))) for _ in range(n)]
        length = 2 ** (len(actions) + 1).bit_length() // 2
        next(tape)
        chosen = max(range(n), key=lambda i: seen[i] + scale * noise[i])
        seen = gains[len(actions) : len(actions) + length].sum(axis=0)
        actions += [chosen] * min(length, T - len(actions))
    return actions


@pytest.mark.parametrize(("mu", "T", "r"), [(0.3, 40, 1.0), (2.0, 7, 4.0), (math.inf, 20, 1.0)])
def test_limited_updates_keep_an_expert_for_a_block_and_draw_by_the_last(make_stream, mu, T, r):
    gains = r * np.random.default_rng(1).random((T, 4))
    stream = make_stream(gains, 5.0, gain_range=r)
    tapes = [np.random.default_rng(k).random(60).tolist() for k in range(30)]
    source = RawGains(stream, mu, 30)
    algorithm = LimitedUpdates()
    actions = play_rounds(algorithm, source, ReplicateGenerators(tuple(map(Tape, tapes))))
    scale = setup_of(source).largest_change / pure_epsilon(mu)
    assert actions.tolist() == [block_by_block(gains, tape, scale) for tape in tapes]
    # There is no horizon: a shorter game is the beginning of a longer one.
    short = RawGains(make_stream(gains[:5], 5.0, gain_range=r), mu, 30)
    again = play_rounds(algorithm, short, ReplicateGenerators(tuple(map(Tape, tapes))))
    np.testing.assert_array_equal(actions[:, :5], again)


def scale_of(**fields):
    facts = {"n_replicates": 1, "n_rounds": 9, "n_experts": 3, "gain_range": 1.0, "mu": 1.0}
    setup = CuratorSetup(**{**facts, "sensitivity": 0.3, "largest_change": 0.2, **fields})
    return LimitedUpdates().init(setup).scale * pure_epsilon(1.0)


def test_their_noise_follows_what_a_person_can_move_in_the_range_of_gains():
    assert scale_of() == pytest.approx(0.2)
    assert scale_of(gain_range=4.0, largest_change=2.0) == pytest.approx(2.0)
    assert scale_of(largest_change=3.0) == pytest.approx(1.0)  # never more than the range
    assert scale_of(stay=3) == pytest.approx(0.6)


PAIRS = 10_000


@pytest.mark.parametrize("mu", [0.1, 0.25, 0.5, 1.0, 2.0, 4.0])
def test_the_worst_pair_of_scores_has_the_mu_of_the_record(mu, random_stream):
    """The largest mu over pairs of score vectors that differ by what a person can move.

    Half of the moves are at their limits, and scores are near each other or far apart.
    """
    setup = setup_of(RawGains(random_stream(20, 3), mu, 1))
    scale, moved = LimitedUpdates().init(setup).scale, setup.largest_change
    rng, found = np.random.default_rng(1), {}
    for factor in (1.0, 2.0):  # at twice the noise, half of the mu
        worst = 0.0
        for n in (2, 3, 5, 10):
            scores = scale * rng.choice([0.0, 0.3, 1.0, 3.0], (PAIRS // 4, 1))
            scores = scores * rng.normal(size=(PAIRS // 4, n))
            moves = moved * rng.choice([-1.0, 1.0], scores.shape)
            moves *= np.where(rng.random((PAIRS // 4, 1)) < 0.5, 1, rng.random(scores.shape))
            # Each choice likely or not, with all odds between: a fine grid of the worst pairs.
            if n == 2:
                scores[:, 0] = np.linspace(-2, 2, len(scores)) * moved
                scores[:, 1], moves = 0.0, moved * np.array([[1.0, -1.0]])
            one, other = (
                special.softmax(it / (factor * scale), axis=1) for it in (scores, scores + moves)
            )
            worst = max(worst, largest_mu(one, other), largest_mu(other, one))
        found[factor] = worst
    record = guarantee_of(LimitedUpdates(), RawGains(random_stream(20, 3), mu, 1))
    assert record.mu == pytest.approx(mu)
    assert 0.999 * record.mu <= found[1.0] <= record.mu * (1 + 1e-9)
    assert found[2.0] < 0.6 * record.mu


@pytest.mark.parametrize("stay", [1, 4])
def test_limited_updates_record_their_level_and_what_longer_stays_cost(random_stream, stay):
    stream = random_stream(20, 3, stay=stay)
    guarantee = guarantee_of(LimitedUpdates(), RawGains(stream, 0.5, 2))
    assert guarantee.mu == pytest.approx(0.5)
    assert guarantee.model == "central"
    epsilon = pure_epsilon(0.5)
    expected = [implied_mu(v / stay * epsilon) for v in (1, 2, 4, 8)]
    assert [it.mu for it in guarantee.stays] == pytest.approx(expected)

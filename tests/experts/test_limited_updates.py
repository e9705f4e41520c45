"""Limited updates: their actions, their noise and their record of privacy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from dpol.core.randomness import ReplicateGenerators
from dpol.experts.interface import CuratorSetup
from dpol.experts.limited_updates import LimitedUpdates
from dpol.experts.play import RawGains, guarantee_of, play_rounds, setup_of
from dpol.privacy.gaussian_dp import implied_mu, pure_epsilon
from lazy_plain import Tape, largest_mu


def plain(gains, uniforms, scale):
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
def test_it_keeps_an_expert_for_a_block_and_draws_by_the_last(make_stream, mu, T, r):
    gains = r * np.random.default_rng(1).random((T, 4))
    stream = make_stream(gains, 5.0, gain_range=r)
    tapes = [np.random.default_rng(k).random(60).tolist() for k in range(30)]
    source = RawGains(stream, mu, 30)
    algorithm = LimitedUpdates()
    actions = play_rounds(algorithm, source, ReplicateGenerators(tuple(map(Tape, tapes))))
    scale = setup_of(source).largest_change / pure_epsilon(mu)
    assert actions.tolist() == [plain(gains, tape, scale) for tape in tapes]
    # There is no horizon: a shorter game is the beginning of a longer one.
    short = RawGains(make_stream(gains[:5], 5.0, gain_range=r), mu, 30)
    again = play_rounds(algorithm, short, ReplicateGenerators(tuple(map(Tape, tapes))))
    np.testing.assert_array_equal(actions[:, :5], again)


def scale_of(**fields):
    facts = {"n_replicates": 1, "n_rounds": 9, "n_experts": 3, "gain_range": 1.0, "mu": 1.0}
    setup = CuratorSetup(**{**facts, "sensitivity": 0.3, "largest_change": 0.2, **fields})
    return LimitedUpdates().init(setup).scale * pure_epsilon(1.0)


def test_noise_follows_what_a_person_can_move_in_the_range_of_gains():
    assert scale_of() == pytest.approx(0.2)
    assert scale_of(gain_range=4.0, largest_change=2.0) == pytest.approx(2.0)
    assert scale_of(largest_change=3.0) == pytest.approx(1.0)  # never more than the range
    assert scale_of(stay=3) == pytest.approx(0.6)


# ---- privacy -------------------------------------------------------------------------------------


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
def test_the_record_has_the_level_and_what_longer_stays_cost(random_stream, stay):
    stream = random_stream(20, 3, stay=stay)
    guarantee = guarantee_of(LimitedUpdates(), RawGains(stream, 0.5, 2))
    assert guarantee.mu == pytest.approx(0.5)
    assert guarantee.model == "central"
    epsilon = pure_epsilon(0.5)
    expected = [implied_mu(v / stay * epsilon) for v in (1, 2, 4, 8)]
    assert [it.mu for it in guarantee.stays] == pytest.approx(expected)

"""Windows, weights and shares of learners that are easily off by one, by hand or by their law."""

from __future__ import annotations

import dataclasses
import itertools
from functools import partial

import numpy as np
import pytest

import experts_plain as plain
from dpol.experts.learners.empirical_bayes import EmpiricalBayesBank
from dpol.experts.learners.random_effects import RandomEffectsBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.experts.play import RawGains, observations, play_rounds, setup_of
from dpol.experts.registry import make_members
from steps import bank_actions

BANKS = {"empirical-bayes": (EmpiricalBayesBank, 0.95), "random-effects": (RandomEffectsBank, 0.97)}
"""Learners that weigh models, and how much of a round's evidence is left a round later."""


@pytest.mark.parametrize("name", ["mf-window", "noisy-max"])
def test_the_usual_window_of_sums_is_of_eight_rounds(make_stream, crowd, name):
    """No noise. Expert 1 gains 0.85 in round 3 only, expert 0 gains 0.1 in each other round.

    Expert 1 leads while round 3 counts: in rounds 4 to 11.
    """
    (member,) = make_members(name)
    gains = np.tile([0.1, 0.0], (14, 1))
    gains[2] = 0.0, 0.85
    source = RawGains(make_stream(gains), mu=np.inf, replicates=1)
    assert (
        play_rounds(member.algorithm, source, crowd(1))[0].tolist() == [0] * 3 + [1] * 8 + [0] * 3
    )


@pytest.mark.parametrize(("label", "window", "penalty"), [
    ("ridge-w8-weak", 8, 0.1), ("ridge-w16-medium", 16, 1.0),
    ("ridge-w32-strong", 32, 10.0), ("ridge-w64-weak", 64, 0.1),
])  # fmt: skip
def test_a_ridge_learner_has_the_window_of_its_name(draw_noisy, label, window, penalty):
    noisy = draw_noisy(np.full((120, 6), 0.2), 0.3, 3, seed=window)
    found = bank_actions(RidgeBank(), noisy)[:, :, RidgeBank().labels.index(label)].tolist()

    def played(size):
        learner = partial(plain.ridge_learner, window=size, penalty=penalty)
        return [
            plain.play_learner(learner, gains, start)
            for gains, start in zip(noisy.gains, noisy.initial, strict=True)
        ]

    assert found == played(window)
    assert found != played(window - 1)


def states(bank, noisy):
    """The states of a bank after each round."""
    state, found = bank.init(setup_of(noisy)), []
    for observation in observations(noisy):
        state, _ = bank.step(state, observation)
        found.append(state)
    return found


@pytest.fixture
def game(draw_noisy):
    """5 rounds of 6 experts and 2 replicates."""
    return draw_noisy(np.random.default_rng(8).random((5, 6)), 0.2, 2)


@pytest.mark.parametrize("unit", [1.0, 4.0])
def test_the_level_weighs_by_noise_and_the_usual_spread(make_noisy, unit):
    """1 / (0.03 + 0.01) and 1 / (0 + 0.01) in units of the range: 1 and 6 make 5."""
    noisy = make_noisy([[[1.0 * unit, 6.0 * unit]]], unit * np.sqrt([0.03, 0.0]))
    (state,) = states(EmpiricalBayesBank(), dataclasses.replace(noisy, gain_range=unit))
    np.testing.assert_allclose(state.level, 5.0 * unit)


def test_the_level_of_random_effects_weighs_by_noise_and_spread_of_the_prediction(game):
    """Each is left out of the weights once: the level is another one."""
    before, after = states(RandomEffectsBank(), game)[1:3]
    observation = list(observations(game))[2]
    left = observation.gains - before.predicted

    def mean(variance):
        weights = 1 / variance
        return (weights * left).sum(axis=1) / weights.sum(axis=1)

    noise = np.broadcast_to(observation.noise_scale**2, before.spread.shape)
    np.testing.assert_allclose(after.level[:, 0], mean(noise + before.spread))
    for wrong in (noise, noise + 0.01):
        assert (np.abs(after.level[:, 0] / mean(wrong) - 1) > 1e-4).all()


@pytest.mark.parametrize("name", BANKS)
def test_shares_of_a_round_count_from_the_next_one_on(game, name):
    """Weights are fits times the shares of the round before; each share counts one expert more."""
    bank = BANKS[name][0]()
    first = bank.init(setup_of(game))
    weighings = [state.weighing for state in (first, *states(bank, game))]
    for before, after in itertools.pairwise(weighings):
        weights = np.exp(after.fits - after.fits.max(axis=0)) * before.shares
        weights /= weights.sum(axis=0)
        np.testing.assert_allclose(after.weights, weights, rtol=1e-9)
        count, n = len(weights), game.n_experts
        shares = (weights.sum(axis=2, keepdims=True) + 1) / (n + count)
        np.testing.assert_allclose(after.shares, shares, rtol=1e-9)
        early = weights * shares / before.shares
        assert np.abs(after.weights / (early / early.sum(axis=0)) - 1).max() > 0.01


@pytest.mark.parametrize("name", BANKS)
def test_evidence_is_forgotten_at_the_usual_rate(game, name):
    """Two rounds with and without forgetting differ by the forgotten part of the first."""
    bank, left = BANKS[name]
    first, usual = (state.weighing for state in states(bank(), game)[:2])
    whole = states(bank(forgetting=1.0), game)[1].weighing
    np.testing.assert_allclose(whole.fits - usual.fits, (1 - left) * first.fits, rtol=1e-9)
    assert np.abs(first.fits).max() > 0.1

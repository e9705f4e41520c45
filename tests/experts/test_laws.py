"""Defaults of algorithms and learners that could easily be off by one."""

from __future__ import annotations

import numpy as np
import pytest

from dpol.experts.learners.random_effects import RandomEffectsBank
from dpol.experts.play import RawGains, observations, play_rounds, setup_of
from dpol.experts.registry import make_members


@pytest.mark.parametrize("name", ["mf-window", "noisy-max"])
def test_the_usual_window_of_sums_is_of_eight_rounds(make_stream, crowd, name):
    """Without noise, expert 1 gains 0.85 in round 3 only, expert 0 gains 0.1 in all other rounds.

    Expert 1 leads while round 3 counts, in rounds 4 to 11.
    """
    (member,) = make_members(name)
    gains = np.tile([0.1, 0.0], (14, 1))
    gains[2] = 0.0, 0.85
    source = RawGains(make_stream(gains), mu=np.inf, replicates=1)
    assert (
        play_rounds(member.algorithm, source, crowd(1))[0].tolist() == [0] * 3 + [1] * 8 + [0] * 3
    )


def states(bank, noisy):
    state, history = bank.init(setup_of(noisy)), []
    for observation in observations(noisy):
        state, _ = bank.step(state, observation)
        history.append(state)
    return history


@pytest.fixture
def game(draw_noisy):
    return draw_noisy(np.random.default_rng(8).random((5, 6)), 0.2, 2)


def test_evidence_is_forgotten_at_the_usual_rate(game):
    """Two rounds with and without forgetting differ by the forgotten part of the first round."""
    first, usual = (state.weighing for state in states(RandomEffectsBank(), game)[:2])
    whole = states(RandomEffectsBank(forgetting=1.0), game)[1].weighing
    np.testing.assert_allclose(whole.fits - usual.fits, (1 - 0.97) * first.fits, rtol=1e-9)
    assert np.abs(first.fits).max() > 0.1

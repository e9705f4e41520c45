"""Checks of every registered bank of learners; a new bank needs no test here."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dpol.checks.check import learners_play_their_columns
from dpol.experts.games import bank_actions
from dpol.experts.learners.alone import LearnerAlone
from dpol.experts.learners.random_effects import RandomEffectsBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.experts.registry import LEARNERS, make_bank
from grids import each_and_corners
from steps import final_state

BANKS = {name: make_bank(name) for name in LEARNERS}
every_bank = pytest.mark.parametrize("name", BANKS)


@every_bank
def test_every_bank_passes_its_check(name):
    learners_play_their_columns(BANKS[name])


# ---- what the actions do not depend on -----------------------------------------------------------


@pytest.fixture
def game(make_noisy):
    """Return a game of 20 rounds, 6 experts and 3 replicates with noise of different scales."""
    rng = np.random.default_rng(4)
    scale = rng.uniform(0.01, 0.5, (20, 6))
    gains = 0.2 + scale * rng.standard_normal((3, 20, 6))
    return make_noisy(gains, noise_scale=scale, initial=scale[0] * rng.standard_normal((3, 6)))


@every_bank
def test_order_and_a_wave_that_lifts_everybody_change_nothing(name, game):
    def actions(**changes):
        return bank_actions(BANKS[name], dataclasses.replace(game, **changes))[:, 1:]

    before, wave = actions(), np.sin(np.arange(20))[:, None]
    # If the level tells how far apart experts lie, a wave is informative.
    of_level = name in ("random-effects", "fixed-share")
    assert (actions(gains=game.gains + wave) != before).any() == of_level
    order = np.array([3, 0, 5, 1, 4, 2])
    permuted = {key: getattr(game, key)[..., order] for key in ("initial", "gains", "noise_scale")}
    np.testing.assert_array_equal(order[actions(**permuted)], before)


@pytest.mark.parametrize(
    ("noise", "size"), each_and_corners((0.0, 1e-13, 1.0, 1e6), (0.0, 1.0, 1e4))
)
def test_extreme_gains_and_noise_give_numbers(make_noisy, noise, size):
    gains = size * np.random.default_rng(0).random((2, 60, 10))
    state = final_state(RandomEffectsBank(), make_noisy(gains, noise))
    for array in (state.predicted, state.fits, state.spread):
        assert np.isfinite(array).all()
    assert (state.shares > 0).all()


# ---- a learner alone -----------------------------------------------------------------------------


def test_only_learners_of_a_bank_can_be_played_alone():
    with pytest.raises(ValueError, match="place must be a whole number from 0 to 1, got 2"):
        LearnerAlone(RidgeBank((2, 3), {"weak": 0.1}), 2)

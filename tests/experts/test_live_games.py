"""Live games: experts that report nothing in a round."""

from __future__ import annotations

import numpy as np

from dpol.experts.interface import LocalSetup, Observation
from dpol.experts.learners.random_effects import RandomEffectsBank

WEEKS, N = 12, 5
ALL = np.ones(N)
SILENT = 7, 2
"""Round in which an expert may report nothing, and the expert."""


def learned(*, made_up=None, reported=ALL):
    """Return the state after all rounds of a game of unknown length, with one replicate."""
    bank = RandomEffectsBank()
    rng = np.random.default_rng(3)
    gains = 0.2 + rng.normal(0, 0.02, (WEEKS, N)).cumsum(axis=0)
    if made_up is not None:
        gains[SILENT] = made_up
    noise = np.full((WEEKS, N), 0.03)
    setup = LocalSetup(
        n_replicates=1, n_rounds=0, n_experts=N, gain_range=1.0,
        initial=np.zeros((1, N)), noise_scale=noise[:1],
    )  # fmt: skip
    state, _ = bank.step(bank.init(setup), None)
    for week in range(WEEKS):
        who = ALL if reported is not None and week != SILENT[0] else reported
        seen = Observation(gains[None, week], noise[week], reported=who)
        state, _ = bank.step(state, seen)
    return state


def test_what_an_expert_did_not_report_is_not_learned():
    silent = np.where(np.arange(N) == SILENT[1], 0.0, ALL)
    low, high = (learned(made_up=gain, reported=silent) for gain in (0.1, 0.9))
    np.testing.assert_array_equal(low.predicted, high.predicted)
    np.testing.assert_array_equal(low.level, high.level)
    told = [learned(made_up=gain).predicted for gain in (0.1, 0.9)]
    assert np.abs(told[0] - told[1]).max() > 1e-3, "a gain that was reported is learned"


def test_a_round_in_which_nobody_reports_keeps_the_level():
    made_up = [learned(made_up=gain, reported=0 * ALL) for gain in (0.1, 0.9)]
    assert np.isfinite(made_up[0].predicted).all()
    np.testing.assert_array_equal(*[each.predicted for each in made_up])


def test_experts_that_all_report_play_the_game_that_has_no_silence():
    np.testing.assert_array_equal(learned(reported=None).predicted, learned().predicted)

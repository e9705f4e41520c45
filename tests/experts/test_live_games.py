"""Live games: experts that report nothing in a round, or have never reported."""

from __future__ import annotations

import numpy as np
import pytest

from dpol.experts.interface import Forecast, LocalAlgorithm, LocalSetup, Observation
from dpol.experts.registry import make_members

WEEKS, N = 12, 5
KALMAN = {"algorithm": "kalman", "models": [{"process_variance": 1e-3, "persistence": 0.9}]}
FILTERS = ["empirical-bayes", "random-effects", KALMAN]
ALL = np.ones(N)
SILENT = 7, 2
"""Round in which an expert may report nothing, and the expert."""


def forecast(spec, *, made_up=None, reported=ALL, joined=None):
    """Return the forecast after all rounds of a game of unknown length, with one replicate."""
    (member,) = make_members(spec)
    algorithm = member.algorithm
    assert isinstance(algorithm, LocalAlgorithm)
    rng = np.random.default_rng(3)
    gains = 0.2 + rng.normal(0, 0.02, (WEEKS, N)).cumsum(axis=0)
    if made_up is not None:
        gains[SILENT] = made_up
    noise = np.full((WEEKS, N), 0.03)
    setup = LocalSetup(
        n_replicates=1, n_rounds=0, n_experts=N, gain_range=1.0,
        initial=np.zeros((1, N)), noise_scale=noise[:1],
    )  # fmt: skip
    state = algorithm.init(setup)
    state, _ = algorithm.step(state, None, ())
    for week in range(WEEKS):
        who = ALL if reported is not None and week != SILENT[0] else reported
        seen = Observation(gains[None, week], noise[week], reported=who, joined=joined)
        state, _ = algorithm.step(state, seen, ())
    ahead = algorithm.forecast(state)
    assert isinstance(ahead, Forecast)
    return ahead


@pytest.mark.parametrize("spec", FILTERS, ids=str)
def test_what_an_expert_did_not_report_is_not_learned(spec):
    silent = np.where(np.arange(N) == SILENT[1], 0.0, ALL)
    low, high = (forecast(spec, made_up=gain, reported=silent) for gain in (0.1, 0.9))
    np.testing.assert_array_equal(low.scores, high.scores)
    np.testing.assert_array_equal(low.level, high.level)
    told = [forecast(spec, made_up=gain).scores for gain in (0.1, 0.9)]
    assert np.abs(told[0] - told[1]).max() > 1e-3, "a gain that was reported is learned"


@pytest.mark.parametrize("spec", FILTERS, ids=str)
def test_a_round_in_which_nobody_reports_keeps_the_level(spec):
    made_up = [forecast(spec, made_up=gain, reported=0 * ALL) for gain in (0.1, 0.9)]
    assert np.isfinite(made_up[0].scores).all()
    np.testing.assert_array_equal(*[each.scores for each in made_up])


@pytest.mark.parametrize("spec", FILTERS, ids=str)
def test_experts_that_all_report_play_the_game_that_has_no_silence(spec):
    plain = forecast(spec, reported=None)
    live = forecast(spec, joined=np.ones(N, dtype=bool))
    np.testing.assert_array_equal(plain.scores, live.scores)

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import experts_plain as plain
from dpol.experts.games import bank_actions
from dpol.experts.learners.ridge import PENALTIES, WINDOWS, RidgeBank, slope_share


def line_actions(make_noisy, gains, window, penalty):
    bank = RidgeBank((window,), {"only": penalty})
    return bank_actions(bank, make_noisy([gains]))[0, :, 0].tolist()


def test_ties_go_to_the_lowest_index_and_gains_that_left_the_window_do_not_break_them(make_noisy):
    """In the second game, the windows of both experts are all zero from round 12 on."""
    gains = np.repeat(np.random.default_rng(0).random((30, 1)), 3, axis=1)
    assert line_actions(make_noisy, gains, 8, 0.1) == [0] * 30
    gains = np.zeros((40, 2))
    gains[:7] = np.random.default_rng(0).random((7, 2))
    assert line_actions(make_noisy, gains, 4, 0.1)[11:] == [0] * 29


@given(
    st.integers(1, 100).flatmap(lambda w: st.tuples(st.just(w), st.integers(1, w))),
    st.floats(1e-3, 1e3),
)
def test_slope_share_is_the_ratio_of_a_penalised_least_squares_fit(sizes, penalty):
    window, rounds = sizes
    fitted = np.array(
        [plain.ridge_prediction(unit, window, penalty) for unit in np.eye(rounds).tolist()]
    )
    ours = 1 + slope_share(rounds, window, penalty) * np.arange(rounds, 0, -1)
    factor = fitted @ ours / (ours @ ours)
    assert factor > 0
    np.testing.assert_allclose(fitted, factor * ours, atol=1e-9 * np.abs(fitted).max())


def test_fast_equals_plain_for_all_twelve(draw_noisy):
    raw = np.random.default_rng(1).random((70, 4))
    noisy = draw_noisy(raw, 0.3, 2)
    fast = bank_actions(RidgeBank(), noisy)
    settings = [(window, penalty) for window in WINDOWS for penalty in PENALTIES.values()]
    assert fast.shape == (2, 70, 12)
    for column, (window, penalty) in enumerate(settings):
        learner = plain.paper_learners([window], [penalty])[0]
        for r in range(2):
            expected = plain.play_learner(learner, noisy.gains[r], noisy.initial[r])
            assert fast[r, :, column].tolist() == expected
            assert len(set(expected)) > 1
    assert len(np.unique(fast[0], axis=1).T) == 12

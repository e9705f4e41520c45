from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import experts_plain as plain
from dpol.experts.learners.ridge import (
    PENALTIES,
    WINDOWS,
    RidgeBank,
    RidgeLearner,
    ridge_label,
    slope_share,
)
from dpol.experts.play import observations, play, setup_of


def bank_actions(bank, noisy):
    """(T, R, m)."""
    state = bank.init(setup_of(noisy))
    rounds, observation = [], None
    for revealed in observations(noisy):
        state, actions = bank.step(state, observation)
        rounds.append(actions)
        observation = revealed
    return np.stack(rounds)


def line_actions(make_noisy, crowd, gains, window, penalty):
    return play(RidgeLearner(window, penalty), make_noisy([gains]), crowd(1))[0].tolist()


def test_a_rising_line_beats_a_higher_mean_unless_the_slope_is_penalised(make_noisy, crowd):
    # Rounds 1-4: expert 0 has 5, 5, 5, 5; expert 1 has 0, 2, 4, 6 and 8 to come.
    gains = [[5.0, 0.0], [5.0, 2.0], [5.0, 4.0], [5.0, 6.0], [0.0, 0.0]]
    assert line_actions(make_noisy, crowd, gains, 4, 1e-9)[4] == 1
    assert line_actions(make_noisy, crowd, gains, 4, 1e9)[4] == 0


@pytest.mark.parametrize(("rival", "expected"), [(7.99, 1), (8.01, 0)])
def test_the_prediction_of_a_line_is_the_line(make_noisy, crowd, rival, expected):
    gains = [[rival, level] for level in (0.0, 2.0, 4.0, 6.0)] + [[0.0, 0.0]]
    assert line_actions(make_noisy, crowd, gains, 8, 1e-9)[4] == expected


@pytest.mark.parametrize(("rival", "expected"), [(23 / 3 - 0.01, 1), (23 / 3 + 0.01, 0)])
def test_the_prediction_with_a_penalty_by_hand(make_noisy, crowd, rival, expected):
    # w = 4: u = -1, -3/4, -1/2, -1/4 with mean -5/8 and squares about it V = 5/16;
    # x = 0, 2, 4, 6 with mean 3 has slope 8, with penalty 5/112 it is 8 V/(V + 5/112) = 7:
    # 3 + 7 * 5/8 = 59/8. Penalty 5/224 gives 8 * 14/15 = 112/15: 3 + 14/3 = 23/3.
    gains = [[rival, level] for level in (0.0, 2.0, 4.0, 6.0)] + [[0.0, 0.0]]
    assert line_actions(make_noisy, crowd, gains, 4, 5 / 224)[4] == expected


def test_the_plain_prediction_by_hand():
    assert plain.ridge_prediction([0.0, 2.0, 4.0, 6.0], 4, 5 / 112) == pytest.approx(59 / 8)
    assert plain.ridge_prediction([9.0, 0.0, 2.0, 4.0, 6.0], 4, 5 / 224) == pytest.approx(23 / 3)


def test_only_the_window_counts(make_noisy, crowd):
    gains = [[100.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    assert line_actions(make_noisy, crowd, gains, 2, 10.0) == [0, 0, 0, 1]


def test_a_window_of_one_follows_the_last_winner(make_noisy, crowd):
    gains = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    assert line_actions(make_noisy, crowd, gains, 1, 1.0) == [0, 1, 2, 0]


def test_round_one_is_expert_zero_even_if_the_initial_noise_says_otherwise(make_noisy, crowd):
    noisy = make_noisy(np.zeros((2, 1, 3)), initial=[0.0, 1.0, 0.0])
    assert play(RidgeLearner(8, 1.0), noisy, crowd(2)).tolist() == [[0], [0]]


def test_equal_histories_go_to_the_lowest_index(make_noisy, crowd):
    gains = np.repeat(np.random.default_rng(0).random((30, 1)), 3, axis=1)
    assert line_actions(make_noisy, crowd, gains, 8, 0.1) == [0] * 30


def test_gains_that_left_the_window_do_not_break_ties(make_noisy, crowd):
    """Both experts' windows are all zero from round 12 on."""
    gains = np.zeros((40, 2))
    gains[:7] = np.random.default_rng(0).random((7, 2))
    assert line_actions(make_noisy, crowd, gains, 4, 0.1)[11:] == [0] * 29


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


def test_fast_equals_plain_for_all_twelve(draw_noisy, crowd):
    raw = np.random.default_rng(1).random((70, 4))
    noisy = draw_noisy(raw, 0.3, 2)
    fast = bank_actions(RidgeBank(), noisy)
    settings = [(window, penalty) for window in WINDOWS for penalty in PENALTIES.values()]
    assert fast.shape == (70, 2, 12)
    for column, (window, penalty) in enumerate(settings):
        learner = plain.paper_learners([window], [penalty])[0]
        for r in range(2):
            expected = plain.play_learner(learner, noisy.gains[r], noisy.initial[r])
            assert fast[:, r, column].tolist() == expected
            assert len(set(expected)) > 1
    assert len(np.unique(fast[:, 0], axis=1).T) == 12


def test_a_learner_on_its_own_is_its_column_of_the_bank(draw_noisy, crowd):
    noisy = draw_noisy(np.random.default_rng(2).random((30, 5)), 1.0, 3)
    columns = bank_actions(RidgeBank((4, 9), {"a": 0.1, "b": 5.0}), noisy)
    for column, (window, penalty) in enumerate([(4, 0.1), (4, 5.0), (9, 0.1), (9, 5.0)]):
        alone = play(RidgeLearner(window, penalty), noisy, crowd(3))
        np.testing.assert_array_equal(alone, columns[:, :, column].T)


def test_the_paper_has_twelve_ridge_learners():
    labels = RidgeBank().labels
    assert len(set(labels)) == 12
    assert labels[:4] == ("ridge-w8-weak", "ridge-w8-medium", "ridge-w8-strong", "ridge-w16-weak")
    assert labels[-1] == ridge_label(64, "strong") == "ridge-w64-strong"
    assert dict(PENALTIES) == {"weak": 0.1, "medium": 1.0, "strong": 10.0}


@pytest.mark.parametrize(
    "parameters",
    [
        {"windows": ()},
        {"windows": (0,)},
        {"windows": (-8,)},
        {"windows": (8, 2.5)},
        {"windows": (8, 8)},
        {"windows": (float("nan"),)},
        {"windows": (float("inf"),)},
        {"penalties": {}},
        {"penalties": {"none": 0.0}},
        {"penalties": {"negative": -1.0}},
        {"penalties": {"unknown": float("nan")}},
    ],
)
def test_invalid_windows_and_penalties_are_refused(parameters):
    with pytest.raises(ValueError, match=r"window|penalties"):
        RidgeBank(**parameters)


@pytest.mark.parametrize(("window", "penalty"), [(0, 1.0), (8, 0.0), (8, -1.0)])
def test_an_invalid_learner_is_refused(window, penalty):
    with pytest.raises(ValueError, match=r"window|penalties"):
        RidgeLearner(window, penalty)


def test_a_whole_window_written_as_a_float_plays_or_is_refused(make_noisy, crowd):
    try:
        learner = RidgeLearner(8.0, 1.0)
    except ValueError:
        return
    assert play(learner, make_noisy(np.zeros((1, 12, 2))), crowd(1)).shape == (1, 12)

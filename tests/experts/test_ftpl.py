from __future__ import annotations

import numpy as np
import pytest

import experts_plain as plain
from dpol.experts.ftpl import RandomWalkFTPL
from dpol.experts.play import play_rounds


def actions_of(noisy, crowd):
    return play_rounds(RandomWalkFTPL(), noisy, crowd(noisy.n_replicates))


@pytest.mark.parametrize(
    ("initial", "expected"),
    [
        ([0.0, 0.0, 0.0], [0, 0, 0, 1]),  # Ties in rounds 1 and 3 go to the lowest index.
        ([0.0, 0.0, 0.5], [2, 0, 0, 1]),
        ([0.0, 0.5, 0.5], [1, 0, 1, 1]),
    ],
)
def test_the_leader_of_a_short_game_by_hand(make_noisy, crowd, initial, expected):
    gains = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [9.0, 9.0, 9.0]]
    assert actions_of(make_noisy([gains], initial=initial), crowd).tolist() == [expected]


def test_fast_equals_plain(draw_noisy, crowd):
    raw = np.random.default_rng(1).random((40, 6))
    noisy = draw_noisy(raw, 1.0, 5)
    expected = [
        plain.play_learner(plain.leader, gains, initial)
        for gains, initial in zip(noisy.gains, noisy.initial, strict=True)
    ]
    assert actions_of(noisy, crowd).tolist() == expected
    assert len(np.unique(expected)) == 6

"""Fixed share over experts, and the typical level of gains, by hand and beside a plain version."""

from __future__ import annotations

import numpy as np
import pytest

import experts_plain as plain
from dpol.experts.games import bank_actions
from dpol.experts.interface import LocalSetup, Observation
from dpol.experts.learners.alone import LearnerAlone
from dpol.experts.learners.fixed_share import FixedShareBank
from dpol.experts.learners.typical_level import before_round_1
from dpol.experts.play import play_rounds
from steps import typical_levels


def test_fast_equals_plain(draw_noisy):
    raw = np.random.default_rng(1).random((40, 5))
    noisy = draw_noisy(raw, 0.3, 3)
    for rate, share in ((30.0, 0.5), (5.0, 0.02)):
        fast = bank_actions(FixedShareBank(rate, share), noisy)[..., 0]
        for gains, actions in zip(noisy.gains, fast, strict=True):
            expected = plain.fixed_share(gains, noisy.noise_scale, rate=rate, share=share)
            assert actions.tolist() == expected
            assert len(set(expected)) > 1


def test_large_rates_do_not_overflow(draw_noisy, crowd):
    noisy = draw_noisy(np.random.default_rng(1).random((40, 5)), 0.3, 3)
    bank = FixedShareBank(1e6, 1e-9)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        play_rounds(LearnerAlone(bank), noisy, crowd(3))


# ---- the typical level ---------------------------------------------------------------------------

START = before_round_1(
    LocalSetup(
        n_replicates=1,
        n_rounds=3,
        n_experts=2,
        gain_range=5.0,
        initial=np.zeros((1, 2)),
        noise_scale=np.ones((3, 2)),
    )
)


def seen(gains, noise_scale=(1.0, 1.0), **told):
    return Observation(np.array([gains]), np.array(noise_scale), **told)


@pytest.mark.parametrize("scale", [1.0, [[3.0, 0.0]] * 4])
def test_it_is_the_mean_of_the_levels_or_its_standard_error(make_noisy, scale):
    """Exact gains weigh more, and the mean of two rounds is 0."""
    noisy = make_noisy([[(1, 3), (-1, -3), (6, 2), (6, 2)]], scale)
    expected = [plain.typical_level(noisy.gains[0, :t], noisy.noise_scale) for t in (1, 2, 3, 4)]
    assert [level.unit.item() for level in typical_levels(noisy)] == pytest.approx(expected)


def test_gains_of_0_without_noise_have_the_unit_1():
    assert START.after(seen((0.0, 0.0), (0.0, 0.0))).unit.item() == 1


def test_an_observation_is_divided_by_it():
    relative = START.relative(seen((1.0, 3.0), (0.5, 1.0), fresh_scale=np.array([0.25, 0.5])))
    assert relative.gains.tolist() == [[2.0, 6.0]]
    assert relative.noise_scale.tolist() == [[1.0, 2.0]]
    assert relative.fresh.tolist() == [[0.5, 1.0]]

"""Our choices of the regressors of the first paper's linear models."""

from __future__ import annotations

import numpy as np
import pytest

import dpol
from dpol.studies.robustness.regressors import (
    BANKS,
    SLOPE,
    FitBank,
    forecast,
    next_difference,
    next_on_line,
    next_value,
)


def oracle(values: np.ndarray, penalty: float) -> float:
    """Fit one series by the normal equations of regressors scaled to a variance of 1/12."""
    y, regressors = values[2:], np.column_stack([values[1:-1], values[:-2]])
    scale = np.sqrt((1 / 12) / regressors.var(axis=0))
    x = (regressors - regressors.mean(axis=0)) * scale
    slopes = np.linalg.solve(x.T @ x + penalty * np.eye(2), x.T @ (y - y.mean()))
    now = (values[[-1, -2]] - regressors.mean(axis=0)) * scale
    return float(y.mean() + now @ slopes)


@pytest.mark.parametrize("penalty", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("length", [4, 5, 8, 64])
def test_a_forecast_is_that_of_the_normal_equations(length: int, penalty: float) -> None:
    values = np.random.default_rng(length).normal(size=(3, length, 2))
    found = forecast(values, penalty)
    for r in range(3):
        for i in range(2):
            assert found[r, i] == pytest.approx(oracle(values[r, :, i], penalty), rel=1e-9)


def test_a_recursion_is_continued_and_a_heavy_penalty_gives_the_mean() -> None:
    values = [1.0, 2.0]
    for _ in range(20):
        values.append(0.3 + 0.9 * values[-1] - 0.5 * values[-2])
    *seen, following = values
    series = np.array(seen)[None, :, None]
    assert forecast(series, 1e-12)[0, 0] == pytest.approx(following, abs=1e-9)
    assert forecast(series, 1e12)[0, 0] == pytest.approx(np.mean(seen[2:]))


@pytest.mark.parametrize(
    ("values", "expected"), [([3.0], 3.0), ([3.0, 5.0], 5.0), ([3.0, 5.0, 4.0], 4.0)]
)
def test_few_values_give_the_last(values: list[float], expected: float) -> None:
    assert forecast(np.array(values)[None, :, None], 1.0).item() == expected


def noisy(gains: np.ndarray) -> dpol.NoisyGains:
    stream = dpol.GainStream(
        label="hand",
        gains=gains,
        capacity=np.full(gains.shape, 50.0),
        entities=tuple(map(str, range(gains.shape[1]))),
        periods=np.datetime64("2021-01-03") + 7 * np.arange(len(gains)),
    )
    return dpol.privatize(stream, "isotropic", 1.0, seed=1, replicates=3)


@pytest.mark.parametrize("fit", [next_value, next_difference, next_on_line])
def test_a_learner_alone_plays_its_column_and_reads_no_later_gain(fit) -> None:
    """A learner of window w forecasts from the last w noisy gains; action 0 in round 1."""
    gains = np.random.default_rng(1).uniform(size=(12, 3))
    games, bank = noisy(gains), FitBank(fit, (4, 8), {"weak": 0.1, "strong": 10.0})
    for place, window in enumerate((4, 4, 8, 8)):
        alone = dpol.play(dpol.LearnerAlone(*bank.single(place)), games, label="alone").actions
        together = dpol.play(dpol.LearnerAlone(bank, place), games, label="alone").actions
        np.testing.assert_array_equal(alone, together)
        assert not alone[:, 0].any()
        penalty = (0.1, 10.0)[place % 2]
        for t in range(2, 12):
            past = games.gains[:, max(0, t - window) : t]
            scores = fit(past, window, penalty, games.noise_scale[t - 1].mean())
            np.testing.assert_array_equal(alone[:, t], scores.argmax(axis=1))


def test_a_forecast_of_differences_adds_the_last_value() -> None:
    values = np.random.default_rng(2).normal(size=(3, 6, 2))
    expected = values[:, -1] + forecast(np.diff(values, axis=1), 1.0)
    np.testing.assert_array_equal(next_difference(values, 8, 1.0, 0.5), expected)


@pytest.mark.parametrize("rounds", [2, 5, 8])
def test_lines_are_ordered_as_by_the_normal_equations(rounds: int) -> None:
    """The slope over a window of 8 rounds has variance SLOPE^2, the noise scale^2."""
    values, scale = np.random.default_rng(rounds).normal(size=(4, rounds, 3)), 0.3
    time = np.arange(rounds) / 8
    centred, penalty = time - time.mean(), (scale / SLOPE) ** 2
    slope = np.einsum("k,rkn->rn", centred, values) / (centred @ centred + penalty)
    forecasts = values.mean(axis=1) + slope * (rounds / 8 - time.mean())
    scores = next_on_line(values, 8, 1.0, scale)
    np.testing.assert_allclose(scores / scores[0, 0], forecasts / forecasts[0, 0])


def test_every_choice_has_the_papers_twelve_models() -> None:
    assert [len(bank.labels) for bank in BANKS.values()] == [12] * 4

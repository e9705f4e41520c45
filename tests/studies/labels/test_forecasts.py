from __future__ import annotations

import numpy as np
import pytest

from dpol.studies.labels.forecasts import FORECASTS, WINDOWS, forecast_class, shares

BEDS = np.array([[10.0, 30.0], [10.0, 30.0], [20.0, 20.0], [30.0, 10.0], [10.0, 30.0], [1.0, 1.0]])
COUNTS = np.array([[3.0, 1.0], [0.0, 0.0], [1.0, 1.0], [0.0, 4.0], [1.0, 0.0], [9.0, 1.0]])
# Shares of the first hospital by week; week 1 has no patients, so its beds stand in.
PAST = [0.75, 0.25, 0.5, 0.0, 1.0, 0.9]
CAPACITY = [0.25, 0.25, 0.5, 0.75, 0.25, 0.5]


def test_the_forecasts_are_these():
    assert FORECASTS == ("last-week", "average-4", "average-12", "all", "capacity")
    assert dict(WINDOWS) == {"last-week": 1, "average-4": 4, "average-12": 12, "all": None}


def test_shares_by_hand():
    np.testing.assert_allclose(shares(COUNTS, shares(BEDS, BEDS))[:, 0], PAST)
    np.testing.assert_allclose(shares(BEDS, BEDS)[:, 0], CAPACITY)


def test_shares_change_neither_argument():
    counts, otherwise = COUNTS.copy(), shares(BEDS, BEDS)
    before = otherwise.copy()
    shares(counts, otherwise)
    np.testing.assert_array_equal(counts, COUNTS)
    np.testing.assert_array_equal(otherwise, before)


def test_forecasts_by_hand():
    found = forecast_class(COUNTS, BEDS, blend=0.1, label="mine")
    assert found.label == "mine"
    assert found.masses.shape == (6, 5, 2)
    first = found.masses[:, :, 0]
    np.testing.assert_allclose(first[0], [0.25] * 5)  # no past: beds
    np.testing.assert_allclose(first[:, -1], CAPACITY)
    for week in range(1, 6):
        for j, looks_back in enumerate((1, 4, 12, None)):
            seen = PAST[:week][-looks_back:] if looks_back else PAST[:week]
            expected = 0.9 * sum(seen) / len(seen) + 0.1 * CAPACITY[week]
            assert first[week, j] == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(found.masses.sum(axis=2), 1.0, rtol=1e-12)


def test_windows_forget_what_is_older():
    """In week 19, `last-week` has seen week 18, `average-4` 15..18, `average-12` 7..18."""
    rng = np.random.default_rng(0)
    counts, beds = rng.integers(1, 9, size=(20, 3)).astype(float), np.ones((20, 3))
    before = forecast_class(counts, beds).masses[19]
    oldest = []
    for j in range(4):
        for week in range(20):
            changed = counts.copy()
            changed[week] = [50.0, 1.0, 1.0]
            if (forecast_class(changed, beds).masses[19, j] != before[j]).any():
                oldest.append(week)
                break
    assert oldest == [18, 15, 7, 0]


def test_counts_of_a_week_never_change_forecasts_of_it_or_of_earlier_weeks():
    rng = np.random.default_rng(0)
    counts, beds = rng.integers(0, 9, size=(9, 4)).astype(float), rng.random((9, 4)) + 0.5
    before = forecast_class(counts, beds).masses
    for week in range(8):
        changed = counts.copy()
        changed[week] = [7.0, 0.0, 0.0, 90.0]
        after = forecast_class(changed, beds).masses
        np.testing.assert_array_equal(after[: week + 1], before[: week + 1])
        assert (after[week + 1, :4] != before[week + 1, :4]).any(axis=1).all()
        np.testing.assert_array_equal(after[:, -1], before[:, -1])


def test_no_hospital_is_ever_ruled_out():
    counts = np.zeros((5, 3))
    counts[:, 0] = 100.0
    masses = forecast_class(counts, np.array([[1.0, 2.0, 7.0]] * 5), blend=0.01).masses
    assert (masses >= 0.01 * np.array([0.1, 0.2, 0.7]) * (1 - 1e-12)).all()


@pytest.mark.parametrize("blend", [0.0, 1.0, -0.5, float("nan")])
def test_a_blend_out_of_range_is_refused(blend):
    with pytest.raises(ValueError, match=rf"blend must lie in \(0, 1\), got {blend}"):
        forecast_class(COUNTS, BEDS, blend=blend)

"""Confidence intervals agree with closed forms and SciPy, and cover as often as they should."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpol.core.intervals import (
    add_intervals,
    clopper_pearson_upper,
    half_width,
    mean_interval,
    share_interval,
    standard_error,
    student_factor,
)

# --- Half-widths ---


def test_one_replicate_has_an_infinite_interval():
    assert half_width(np.array([[1.0, 2.0]]), 0.95).tolist() == [math.inf, math.inf]
    assert float(half_width(np.array([1.0]), 0.95)) == math.inf
    assert student_factor(0.95, 3, 1) == math.inf
    assert student_factor(0.95, 0, 5) == student_factor(0.95, 1, 5), "none counts as one"
    frame = pd.DataFrame({"replicates": [1], "error": [float(standard_error(np.ones(1)))]})
    assert add_intervals(frame, {"error": "half_width"}, 0.95)["half_width"].tolist() == [np.inf]


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9 / 7])
def test_equal_replicates_have_a_width_of_exactly_0(value):
    """The deviation of three equal values need not be 0 in floating point."""
    assert float(half_width(np.full(3, value), 0.95)) == 0.0


def test_all_means_of_a_table_hold_together():
    samples = {name: np.random.default_rng(0).random((2, 5)) for name in ("a", "b")}
    errors = {
        f"{name}_error": [float(standard_error(values)) for values in samples[name]]
        for name in samples
    }
    frame = pd.DataFrame({"replicates": [5, 5], **errors})
    columns = {f"{name}_error": f"{name}_half_width" for name in samples}
    table = add_intervals(frame, columns, 0.9)
    assert table.columns.tolist() == [*frame, *columns.values(), "confidence", "ci_comparisons"]
    assert (table["ci_comparisons"] == 4).all()
    assert (table["confidence"] == 0.9).all()
    for name, of_rows in samples.items():
        expected = [half_width(values, 0.9, comparisons=4) for values in of_rows]
        assert table[f"{name}_half_width"].tolist() == expected


# --- SciPy's own intervals ---


@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-6])
def test_intervals_of_shares_are_scipys(confidence):
    for trials in (1, 2, 7, 50, 20_000):
        counts = sorted({0, 1, trials // 3, trials - 1, trials})
        uppers = clopper_pearson_upper(counts, trials, 1 - confidence)
        for successes, upper in zip(counts, uppers, strict=True):
            test = stats.binomtest(successes, trials)
            both = tuple(test.proportion_ci(confidence, method="exact"))
            assert share_interval(successes, trials, confidence) == pytest.approx(both, rel=1e-9)
            one = stats.binomtest(successes, trials, alternative="less")
            most = one.proportion_ci(confidence, method="exact").high
            assert upper == pytest.approx(most, rel=1e-9)


@pytest.mark.parametrize("sizes", [(2, 2), (3, 40), (20, 20)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-6])
def test_intervals_of_means_are_scipys(sizes, confidence):
    rng = np.random.default_rng(sizes)
    one, other = (
        5 + spread * rng.standard_normal(n) for spread, n in zip((1, 4), sizes, strict=True)
    )
    for sample in (one, other):
        alone = stats.ttest_1samp(sample, 0).confidence_interval(confidence)
        assert mean_interval(sample, confidence) == pytest.approx(tuple(alone), rel=1e-9)
    # Each of several intervals that hold together gets its share of the error (Bonferroni).
    each = 1 - (1 - confidence) / 8
    alone = stats.ttest_1samp(one, 0).confidence_interval(each)
    together = half_width(np.stack([one, 9 * one], axis=1), confidence, comparisons=8)
    assert together.tolist() == pytest.approx([half := (alone.high - alone.low) / 2, 9 * half])

from __future__ import annotations

import math

import numpy as np
import pytest

from dpol.privacy.gaussian_dp import (
    compose,
    delta_of_epsilon,
    epsilon_of_delta,
    mu_of_epsilon,
    pure_epsilon,
)


def test_epsilon_is_zero_once_delta_reaches_the_total_variation_distance():
    reached = math.erf(1 / math.sqrt(8))
    assert epsilon_of_delta(reached * 1.0001, 1.0) == 0.0
    assert epsilon_of_delta(reached * 0.9999, 1.0) > 0.0


def test_no_information_and_no_privacy_are_the_limits():
    np.testing.assert_array_equal(delta_of_epsilon([0.0, 3.0], 0.0), [0.0, 0.0])
    np.testing.assert_array_equal(delta_of_epsilon([0.0, 3.0], math.inf), [1.0, 1.0])
    assert epsilon_of_delta(1e-6, 0.0) == 0.0
    assert epsilon_of_delta(1e-6, math.inf) == math.inf == mu_of_epsilon(math.inf, 1e-6)


def test_what_is_too_large_for_a_number_is_infinite():
    assert epsilon_of_delta(1e-6, 1e150) == pytest.approx(1e300 / 2)
    assert epsilon_of_delta(1e-6, 1e200) == pure_epsilon(1e200) == math.inf
    assert delta_of_epsilon(1.0, 1e308) == 1.0


def test_composition_is_the_root_of_the_sum_of_squares():
    assert compose([3.0, 4.0]) == 5.0
    assert compose(iter([0.5] * 4)) == 1.0
    assert compose([]) == 0.0
    assert compose([1.0, math.inf]) == math.inf


NEGATIVE = "mu must not be negative"


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        *((delta_of_epsilon, (1.0, mu), NEGATIVE) for mu in (-1.0, math.nan)),
        (delta_of_epsilon, ([1.0, -0.1], 1.0), r"epsilon must not be negative, got -0\.1"),
        (epsilon_of_delta, (0.1, -1.0), "mu must be a number from 0 to inf"),
        (epsilon_of_delta, (1.0, 1.0), "delta must be a number in"),
        (compose, ([1.0, -1.0],), "mu must be a number from 0 to inf"),
        (delta_of_epsilon, (math.nan, 1.0), "epsilon must not be negative, got nan"),
        (mu_of_epsilon, (-0.1, 0.1), "epsilon must be a number from 0 to inf"),
        (mu_of_epsilon, (1.0, math.nan), "delta must be a number in"),
    ],
)
def test_arguments_out_of_range_are_refused(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)

"""Gaussian differential privacy, against its closed form in many digits."""

import math

import mpmath
import numpy as np
import pytest

from dpol.privacy.gaussian_dp import (
    delta_of_epsilon,
    epsilon_of_delta,
    implied_mu,
    mu_of_epsilon,
    pure_epsilon,
    root,
)

# ---- roots ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [-2.0, -1e-9, 0.0, 1e-250, 0.3, 3.0])
@pytest.mark.parametrize("rising", [math.atan, lambda x: x * (1 + x**4), lambda x: max(x, -1e-3)])
def test_a_root_has_all_digits_also_near_0_and_at_the_ends(rising, at):
    found = root(lambda x: rising(x - at), -2.0, 3.0)
    assert abs(found - at) <= 2e-15 * abs(at)
    with pytest.raises(ValueError, match=r"no root between -2.0 and -1.5"):
        root(lambda x: rising(x + 1), -2.0, -1.5)


# ---- numbers -------------------------------------------------------------------------------------


def exact_log_delta(epsilon, mu):
    with mpmath.workdps(400):
        e, m, root = mpmath.mpf(epsilon), mpmath.mpf(mu), mpmath.sqrt(2)
        first = mpmath.erfc((e / m - m / 2) / root) / 2
        return mpmath.log(first - mpmath.exp(e) * mpmath.erfc((e / m + m / 2) / root) / 2)


@pytest.mark.parametrize("mu", [1e-9, 2e-5, 0.0021, 0.019, 0.021, 0.15, 1.0, 9.0, 300.0])
@pytest.mark.parametrize("distance", [-30.0, -1.0, 0.0, 0.5, 12.0, 36.5])
def test_delta_has_all_digits(mu, distance):
    """Both sides of the limits of the code: mu of 0.02, and 40 deviations from the middle."""
    epsilon = max(mu * (distance + mu / 2), 0.0)
    exact = math.exp(exact_log_delta(epsilon, mu))
    assert float(delta_of_epsilon(epsilon, mu)) == pytest.approx(exact, rel=1e-12, abs=0)


@pytest.mark.parametrize("mu", [1e-12, 3.3e-7, 4.7e-5, 0.9e-3, 1.1e-3, 0.3, 7.0, 40.0, 1000.0])
def test_pure_epsilon_has_all_digits_and_back(mu):
    with mpmath.workdps(400):
        wrong = mpmath.erfc(mpmath.mpf(mu) / mpmath.sqrt(8)) / 2
        exact = float(mpmath.log((1 - wrong) / wrong))
    assert pure_epsilon(mu) == pytest.approx(exact, rel=1e-13, abs=0)
    assert implied_mu(exact) == pytest.approx(mu, rel=1e-12, abs=0)


DELTAS = [1e-300, 1e-100, 1e-20, 1e-15, 1e-6, 0.3, 0.999]


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 1e-3, 1.0, 50.0, 1e4])
def test_mu_keeps_epsilon_and_delta_to_all_digits(epsilon, delta):
    missing = math.log(delta) - float(exact_log_delta(epsilon, mu_of_epsilon(epsilon, delta)))
    assert -1e-13 * abs(math.log(delta)) <= missing <= 1e-7


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("mu", [1e-100, 1e-12, 1e-3, 0.3, 10.0, 1e3])
def test_epsilon_keeps_mu_to_all_digits(mu, delta):
    epsilon = epsilon_of_delta(delta, mu)
    missing = math.log(delta) - float(exact_log_delta(epsilon, mu))
    assert -1e-13 * abs(math.log(delta)) <= missing
    assert missing <= 1e-8 or epsilon == 0


# ---- limits and arguments ------------------------------------------------------------------------


def test_no_information_and_no_privacy_are_the_limits():
    np.testing.assert_array_equal(delta_of_epsilon([0.0, 3.0], 0.0), [0.0, 0.0])
    np.testing.assert_array_equal(delta_of_epsilon([0.0, 3.0], math.inf), [1.0, 1.0])
    assert epsilon_of_delta(1e-6, 0.0) == 0.0
    assert epsilon_of_delta(1e-6, math.inf) == math.inf == mu_of_epsilon(math.inf, 1e-6)


def test_what_is_too_large_for_a_number_is_infinite():
    assert epsilon_of_delta(1e-6, 1e150) == pytest.approx(1e300 / 2)
    assert epsilon_of_delta(1e-6, 1e200) == pure_epsilon(1e200) == math.inf
    assert delta_of_epsilon(1.0, 1e308) == 1.0

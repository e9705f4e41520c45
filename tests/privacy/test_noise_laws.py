"""Laws of noise: closed forms, another accountant, and the least noise kept."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dpol.privacy.losses import Promise
from dpol.privacy.noise_laws import GAUSSIAN, LAPLACE

SLACK, SLACK_OF_GUESS = 1e-3, 1e-4
"""Stated largest relative excess of a delta; and of mu, and of delta at epsilon = 0."""
EACH_E = pytest.mark.parametrize("e", [1e-3, 0.05, 0.26, 0.74, 1.0, 3.0, 12.0])

# ---- several releases ----------------------------------------------------------------------------


@EACH_E
def test_one_and_two_releases_in_closed_form(e):
    """At epsilon the losses of one release give 1 - exp((epsilon - e) / 2).

    Without exp((loss - e) / 2), the sum of two losses has mass 1/4 at 2 e and 1/2 at 0, density 1/4
    beyond 0, and density (2 e - |loss|) / 16; times 2 sinh(loss / 2), from 0 to 2 e, they are
    exp(e) - 1 - e / 2.
    """
    assert LAPLACE.loss(e, 1).delta(0.0) == pytest.approx(-math.expm1(-e / 2), rel=1e-11)
    for epsilon in (0.3 * e, 0.9 * e):
        exact = -math.expm1((epsilon - e) / 2)
        assert exact * (1 - 1e-11) <= LAPLACE.loss(e, 1).delta(epsilon) <= exact * (1 + SLACK)
    assert LAPLACE.loss(e, 1).delta(1.0001 * e) == 0
    both = -math.expm1(-e) - e / 2 * math.exp(-e)
    assert both * (1 - 1e-11) <= LAPLACE.loss(e, 2).delta(0.0) <= both * (1 + SLACK_OF_GUESS)


@EACH_E
def test_the_mu_of_one_release_is_that_of_its_best_guess(e):
    exact = 2 * stats.norm.isf(math.exp(-e / 2) / 2)
    assert exact * (1 - 1e-9) <= LAPLACE.loss(e, 1).mu <= exact * (1 + SLACK_OF_GUESS)


@pytest.mark.parametrize("releases", [1, 2, 8, 16])
@pytest.mark.parametrize("e", [0.06, 0.26, 0.97, 3.0])
def test_deltas_agree_with_dp_accounting(e, releases):
    """Its losses, which are rounded down or up, give bounds."""
    from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism

    fine = {"value_discretization_interval": e / (2000 if releases < 8 else 500)}
    epsilons = np.array([0.0, 0.1, 0.3, 0.6]) * e * releases
    low, high = (
        np.array(
            from_laplace_mechanism(1 / e, pessimistic_estimate=up, use_connect_dots=up, **fine)
            .self_compose(releases)
            .get_delta_for_epsilon(epsilons)
        )
        for up in (False, True)
    )
    ours = np.array([LAPLACE.loss(e, releases).delta(epsilon) for epsilon in epsilons])
    seen = high > 1e-9
    assert seen.sum() >= 2
    assert (ours[seen] >= low[seen] * (1 - 1e-6)).all()
    assert (ours[seen] <= high[seen] * (1 + SLACK)).all()
    assert ours[0] <= high[0] * (1 + SLACK_OF_GUESS)
    # The bounds are so close that noise smaller by a hundredth is refused.
    more = LAPLACE.loss(1.01 * e, releases).delta(0.0)
    assert more > high[0] * (1 + SLACK) or releases * e > 10


def test_hundreds_of_releases():
    """With many small losses the mu of one adds up as the root of their number."""
    assert LAPLACE.loss(0.0311, 1040).mu == pytest.approx(0.0311 * math.sqrt(1040), rel=0.01)
    assert LAPLACE.loss(math.inf, 2).mu == math.inf


SMALL = {
    1e-6: {16: 6e-6, 208: 5e-5},
    1e-8: {16: 6e-4, 208: 5e-3},
    1e-12: {2: 0.6, 208: 17.0},
}
"""Stated relative excess of the deviation at a small mu, by releases."""


@pytest.mark.parametrize(("mu", "stated"), SMALL.items())
def test_noise_for_a_small_mu_is_as_much_too_large_as_stated(mu, stated):
    """For small e the loss of a release is e or -e: the number of losses e is binomial.

    Tests count them. The change of their power with e gives mu / e.
    """
    for releases, excess in stated.items():
        most = np.arange(releases // 2, releases)
        change = releases / 2 * stats.binom.pmf(most, releases - 1, 0.5)
        quantile = stats.norm.isf(stats.binom.sf(most, releases, 0.5))
        strength = mu / (change / stats.norm.pdf(quantile)).max()
        found = strength / LAPLACE.largest(Promise(mu=mu), releases) - 1
        assert found == pytest.approx(excess, rel=0.1)


# ---- other laws ----------------------------------------------------------------------------------


def test_pure_epsilon_is_divided_among_the_releases():
    assert LAPLACE.largest(Promise(epsilon=1.0), 16) == 1 / 16


def test_gaussian_noise_in_closed_form():
    assert GAUSSIAN.deviation(GAUSSIAN.largest(Promise(mu=0.25), 2)) == pytest.approx(32**0.5)
    guess = GAUSSIAN.largest(Promise(delta=0.2), 4)
    assert GAUSSIAN.loss(guess, 4).delta(0.0) == pytest.approx(0.2)
    small = Promise(epsilon=1.0, delta=1e-6)
    assert GAUSSIAN.loss(GAUSSIAN.largest(small, 8), 8).delta(1.0) == pytest.approx(1e-6)
    assert GAUSSIAN.largest(Promise(epsilon=1.0), 2) == 0

"""Laplace releases together: closed forms, another accountant, inverses, and limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpol.privacy.gaussian_dp import delta_of_epsilon, epsilon_of_delta, pure_epsilon
from dpol.privacy.laplace import (
    delta_of_releases,
    mu_at_same_delta,
    mu_of_releases,
    release_epsilon,
)

SLACK, SLACK_OF_GUESS = 1e-3, 1e-4
"""Stated largest relative excess of a delta; and of mu, and of delta at epsilon = 0."""
EACH_E = pytest.mark.parametrize("e", [1e-3, 0.05, 0.26, 0.74, 1.0, 3.0, 12.0])


@EACH_E
def test_one_and_two_releases_in_closed_form(e):
    """At epsilon the losses of one release give 1 - exp((epsilon - e) / 2).

    Without exp((loss - e) / 2), the sum of two losses has mass 1/4 at 2 e and 1/2 at 0, density 1/4
    beyond 0, and density (2 e - |loss|) / 16; times 2 sinh(loss / 2), from 0 to 2 e, they are
    exp(e) - 1 - e / 2.
    """
    assert delta_of_releases(0.0, e, 1) == pytest.approx(-math.expm1(-e / 2), rel=1e-11)
    for epsilon in (0.3 * e, 0.9 * e):
        exact = -math.expm1((epsilon - e) / 2)
        assert exact * (1 - 1e-11) <= delta_of_releases(epsilon, e, 1) <= exact * (1 + SLACK)
    both = -math.expm1(-e) - e / 2 * math.exp(-e)
    assert both * (1 - 1e-11) <= delta_of_releases(0.0, e, 2) <= both * (1 + SLACK_OF_GUESS)


@EACH_E
def test_the_mu_of_one_release_is_that_of_its_best_guess(e):
    exact = 2 * stats.norm.isf(math.exp(-e / 2) / 2)
    assert exact * (1 - 1e-9) <= mu_of_releases(e, 1) <= exact * (1 + SLACK_OF_GUESS)


def bounds_on_delta(epsilon, e, releases):
    """Return a lower and an upper bound on delta by the accountant of dp_accounting."""
    from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism

    fine = {"value_discretization_interval": e / (2000 if releases < 8 else 500)}
    bounds = []
    for pessimistic in (False, True):
        one = from_laplace_mechanism(
            1 / e, pessimistic_estimate=pessimistic, use_connect_dots=pessimistic, **fine
        )
        together = one.self_compose(releases) if releases > 1 else one
        bounds.append(np.array(together.get_delta_for_epsilon(epsilon)))
    return bounds


@pytest.mark.parametrize("releases", [1, 2, 8, 16])
@pytest.mark.parametrize("e", [0.06, 0.26, 0.97, 3.0])
def test_deltas_agree_with_dp_accounting(e, releases):
    epsilons = np.array([0.0, 0.1, 0.3, 0.6]) * e * releases
    low, high = bounds_on_delta(epsilons, e, releases)
    ours = np.array([delta_of_releases(epsilon, e, releases) for epsilon in epsilons])
    seen = high > 1e-9
    assert seen.sum() >= 2
    assert (ours[seen] >= low[seen] * (1 - 1e-6)).all()
    assert (ours[seen] <= high[seen] * (1 + SLACK)).all()
    assert ours[0] <= high[0] * (1 + SLACK_OF_GUESS)
    # The bounds are so close that noise smaller by a hundredth is refused.
    more = np.array([delta_of_releases(epsilon, 1.01 * e, releases) for epsilon in epsilons])
    assert (more[0] > high[0] * (1 + SLACK)) or releases * e > 10


@pytest.mark.parametrize("releases", [1, 2, 8, 16])
@pytest.mark.parametrize("mu", [0.1, 0.25, 1.0, 3.0])
def test_the_releases_are_mu_gdp_and_with_less_noise_they_are_not(mu, releases):
    """mu-GDP is delta(epsilon) at most that of mu, for all epsilon; by the other accountant."""
    e = release_epsilon(mu, releases)
    epsilons = np.linspace(0, e * releases, 101)[:-1]
    allowed = delta_of_epsilon(epsilons, mu)
    low, high = bounds_on_delta(epsilons, e, releases)
    seen = high > 1e-9
    assert (low[seen] <= allowed[seen] * (1 + 1e-9)).all()
    ours = np.array([delta_of_releases(epsilon, e, releases) for epsilon in epsilons])
    assert (ours <= allowed * (1 + 1e-9)).all()
    low, _ = bounds_on_delta(epsilons, 1.01 * e, releases)
    assert (low > allowed)[seen].any()


@pytest.mark.parametrize(
    ("mu", "tight", "guesses"),
    [
        (1.0, [0.58, 0.29, 0.20], [0.599, 0.555, 0.540]),
        (0.25, [0.15, 0.07, 0.05], [0.525, 0.514, 0.510]),
    ],
)
def test_pure_epsilon_in_parts_guarantees_far_more_than_its_mu(mu, tight, guesses):
    """What a pure epsilon for mu, split over two holders and w rounds, is in truth."""
    for weeks, exact, guess in zip((1, 4, 8), tight, guesses, strict=True):
        each = pure_epsilon(mu) / (2 * weeks)
        assert mu_of_releases(each, 2 * weeks) == pytest.approx(exact, abs=0.005)
        best = (1 + delta_of_releases(0.0, each, 2 * weeks)) / 2
        assert best == pytest.approx(guess, abs=6e-4)


@given(
    e=st.floats(1e-4, 8.0),
    releases=st.integers(1, 12),
    more=st.floats(1.01, 2.0),
    at=st.floats(0, 1),
)
def test_more_releases_and_less_noise_reveal_more(e, releases, more, at):
    epsilon = at * e * releases
    one, delta = mu_of_releases(e, releases), delta_of_releases(epsilon, e, releases)
    for other in ((more * e, releases), (e, releases + 1)):
        assert mu_of_releases(*other) >= one * (1 - SLACK_OF_GUESS)
        assert delta_of_releases(epsilon, *other) >= delta * (1 - SLACK)


@given(mu=st.floats(1e-3, 10.0), releases=st.integers(1, 20))
def test_the_epsilon_of_a_release_is_the_inverse_of_mu(mu, releases):
    e = release_epsilon(mu, releases)
    assert mu * (1 - 1e-6) <= mu_of_releases(e, releases) <= mu
    assert pure_epsilon(mu) / releases <= e


@pytest.mark.parametrize("mu", [1e-3, 20.0, 1e3])
@pytest.mark.parametrize("releases", [1, 2, 16])
def test_at_the_ends_of_the_levels_the_releases_are_mu_gdp(mu, releases):
    """Where digits run out, the bound of pure epsilon stands in."""
    e = release_epsilon(mu, releases)
    assert pure_epsilon(mu) / releases <= e < math.inf
    assert mu_of_releases(e, releases) <= mu * (1 + 1e-9)


def test_hundreds_of_releases_and_none_private():
    """With many small losses the mu of one adds up as the root of their number."""
    assert mu_of_releases(0.0311, 1040) == pytest.approx(0.0311 * math.sqrt(1040), rel=0.01)
    assert mu_of_releases(math.inf, 2) == math.inf == release_epsilon(math.inf, 2)


@pytest.mark.parametrize("releases", [1, 2, 8, 16])
@pytest.mark.parametrize("mu", [0.25, 1.0, 3.0])
@pytest.mark.parametrize("delta", [None, 1e-6])
def test_the_least_noise_with_the_same_delta(mu, releases, delta):
    epsilon = epsilon_of_delta(delta, mu) if delta else 0.0
    level = mu_at_same_delta(mu, epsilon, releases)
    assert level >= mu
    found = delta_of_releases(epsilon, release_epsilon(level, releases), releases)
    assert found == pytest.approx(float(delta_of_epsilon(epsilon, mu)), rel=1e-3)

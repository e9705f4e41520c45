"""The accountant and laws of noise: closed forms, other accountants, and the least noise kept."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from dpol.privacy import composition
from dpol.privacy.losses import Promise, pure
from dpol.privacy.noise_laws import GAUSSIAN, LAPLACE, LAWS, Law

SLACK = 1e-8
"""Relative error of this file's own accountant, and of what it is compared with."""
COARSE = {LAPLACE: 0.2}
"""Largest relative excess of noise beyond the best, by law: the grid of Laplace losses."""

# ---- another accountant: both inputs, one release after the other, all in logarithms -------------


def one_release(law, e):
    """Losses over their step, the step, and log probabilities with and without the person.

    Those of Laplace noise are lower bounds: losses are rounded down, on a coarse grid.
    """
    with mpmath.workdps(50):
        b = mpmath.exp(-mpmath.mpf(e))
        if law is TWO_LOSSES:
            masses = {1: 1 / (1 + b), -1: b / (1 + b)}
        else:  # cells of losses between points, at the lower point
            steps = 40
            at = [mpmath.mpf(e) * j / steps for j in range(-steps, steps + 1)]
            below = [mpmath.exp((x - e) / 2) / 2 for x in at]
            masses = {j: mpmath.mpf(0) for j in range(-steps, steps + 1)}
            masses[steps], masses[-steps] = mpmath.mpf(1) / 2, below[0]
            for j in range(-steps, steps):
                masses[j] += below[j + steps + 1] - below[j + steps]
            e = e / steps
        keys = sorted(masses)
        logs = [float(mpmath.log(masses[key])) for key in keys]
    return np.array([float(key) for key in keys]), e, np.array(logs)


def convolved(one, other):
    total = np.full(len(one) + len(other) - 1, -np.inf)
    for place, log_mass in enumerate(one):
        part = total[place : place + len(other)]
        np.logaddexp(part, log_mass + other, out=part)
    return total


def losses_together(law, e, releases):
    """Losses of all releases, and the logs of their probabilities with the person."""
    losses, step, one = one_release(law, e)
    gap = losses[1] - losses[0]
    total = one
    for _ in range(releases - 1):
        total = convolved(one, total)
    return step * (releases * losses[0] + gap * np.arange(len(total))), total


def log_delta(law, epsilon, e, releases):
    losses, logs = losses_together(law, e, releases)
    over = losses > epsilon
    if not over.any():
        return -math.inf
    return float(np.logaddexp.reduce(logs[over] + np.log(-np.expm1(epsilon - losses[over]))))


def own_mu(law, e, releases):
    """mu of the best of the tests "the loss is at least x", from the smaller of each two tails."""
    losses, logs = losses_together(law, e, releases)
    power = np.logaddexp.accumulate(logs[::-1])[::-1][1:]
    missed = np.logaddexp.accumulate(logs)[:-1]
    wrong = np.logaddexp.accumulate((logs - losses)[::-1])[::-1][1:]
    tests = wrong < math.log(0.5)
    power, missed, wrong = power[tests], missed[tests], wrong[tests]
    right = np.where(power < missed, special.ndtri_exp(power), -special.ndtri_exp(missed))
    return float((right - special.ndtri_exp(wrong)).max())


TWO_LOSSES = Law(name="two losses", deviation_of_one=math.nan, loss_of=pure)
"""A release has the loss e with odds exp(e), else -e."""
LATTICED = {law.name: law for law in (LAPLACE, TWO_LOSSES)}


def check_strength(law, promise, releases):
    """The strength found keeps the promise, and one larger by a thousandth does not."""
    e = law.largest(promise, releases)
    if promise.mu is not None:
        assert own_mu(law, e, releases) <= promise.mu * (1 + SLACK)
        assert own_mu(law, e * (1.001 + COARSE.get(law, 0)), releases) > promise.mu
    else:
        goal = math.log(promise.delta)
        assert log_delta(law, promise.epsilon, e, releases) <= goal + SLACK
        more = e * (1.01 + COARSE.get(law, 0))
        assert log_delta(law, promise.epsilon, more, releases) > goal


@settings(max_examples=25, deadline=None)
@given(
    name=st.sampled_from(sorted(LATTICED)),
    log_mu=st.floats(-3, 3),
    releases=st.sampled_from([1, 2, 3, 5, 8, 16, 52, 208]),
)
def test_the_strength_for_mu_is_right_at_all_levels(name, log_mu, releases):
    law, mu = LATTICED[name], 10.0**log_mu
    if law is LAPLACE:
        releases = min(releases, 16)
    check_strength(law, Promise(mu=mu), releases)


@settings(max_examples=25, deadline=None)
@given(
    name=st.sampled_from(sorted(LATTICED)),
    epsilon=st.floats(0, 50),
    log_delta=st.floats(-300, -0.5),
    releases=st.sampled_from([2, 3, 8, 16]),
)
def test_the_strength_for_epsilon_and_delta_is_right_at_all_levels(
    name, epsilon, log_delta, releases
):
    promise = Promise(epsilon=epsilon, delta=10.0**log_delta)
    check_strength(LATTICED[name], promise, releases)


@pytest.mark.parametrize("releases", [2, 5, 20])
@pytest.mark.parametrize("e", [0.05, 0.7, 3.0])
def test_mu_and_delta_are_never_too_small_and_have_nine_digits(releases, e):
    loss, mu = TWO_LOSSES.loss(e, releases), own_mu(TWO_LOSSES, e, releases)
    assert mu <= loss.mu <= mu * (1 + 1e-9)
    for epsilon in (0.0, 0.3 * releases * e):
        delta = math.exp(log_delta(TWO_LOSSES, epsilon, e, releases))
        assert delta <= loss.delta(epsilon) <= delta * (1 + 1e-9)


# ---- levels of any size --------------------------------------------------------------------------


@pytest.mark.parametrize("mu", [1e-3, 0.25, 20.0, 300.0, 1000.0])
def test_records_of_laplace_noise_do_not_fall_as_weeks_are_added(mu):
    one, three = (LAPLACE.largest(Promise(mu=mu), 2 * stay) for stay in (1, 3))
    records = [LAPLACE.loss(one, 2 * weeks).mu for weeks in (1, 2, 4, 8)]
    assert records == sorted(records)
    assert mu * (1 - 1e-6) <= LAPLACE.loss(three, 6).mu <= mu * (1 + 1e-12)


@pytest.mark.parametrize("name", LAWS)
def test_no_mu_and_all_mu(name):
    assert [LAWS[name].largest(Promise(mu=mu), 4) for mu in (0.0, math.inf)] == [0.0, math.inf]


@pytest.mark.parametrize("name", LATTICED)
def test_a_level_beyond_use_is_a_number_and_one_beyond_numbers_is_refused(name):
    law = LATTICED[name]
    assert law.loss(law.largest(Promise(mu=1e12), 6), 6).mu == pytest.approx(1e12, rel=1e-3)
    with pytest.raises(ValueError, match=r"mu = 1e\+200 is too large.*take inf"):
        law.largest(Promise(mu=1e200), 6)


# ---- what a promise says -------------------------------------------------------------------------


@pytest.mark.parametrize("releases", [2, 5, 16])
@pytest.mark.parametrize("one", [(1, 40, 900, 40, 1), (7, 1, 1, 9, 1, 1, 7), (400, 5, 5, 5)])
def test_every_mass_has_twelve_digits(one, releases):
    """Powers of polynomials of whole numbers are exact."""
    one = (*one, 3, *reversed(one))
    exact = np.array([1], dtype=object)
    for _ in range(releases):
        exact = np.convolve(exact, np.array(one, dtype=object))
    logs = composition.log_masses([(np.log(np.array(one, dtype=float)), releases)])
    assert np.abs(logs - [math.log(mass) for mass in exact]).max() <= 2e-12


def test_a_mass_that_no_tilt_shows_is_no_number(monkeypatch):
    monkeypatch.setitem(composition.BELIEVED, 1e-12, (0.9999, 0.9999))
    with pytest.raises(ArithmeticError, match="no tilt shows"):
        composition.log_masses([(np.log(np.arange(1, 12)[::-1] + np.arange(1, 12)), 40)])


# ---- laws of noise -------------------------------------------------------------------------------


EXCESS, EXCESS_OF_GUESS = 1e-3, 1e-4
"""Stated largest relative excess of a delta; and of mu, and of delta at epsilon = 0."""
EACH_E = pytest.mark.parametrize("e", [1e-3, 0.05, 0.26, 0.74, 1.0, 3.0, 12.0])


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
        assert exact * (1 - 1e-11) <= LAPLACE.loss(e, 1).delta(epsilon) <= exact * (1 + EXCESS)
    assert LAPLACE.loss(e, 1).delta(1.0001 * e) == 0
    both = -math.expm1(-e) - e / 2 * math.exp(-e)
    assert both * (1 - 1e-11) <= LAPLACE.loss(e, 2).delta(0.0) <= both * (1 + EXCESS_OF_GUESS)


@EACH_E
def test_the_mu_of_one_release_is_that_of_its_best_guess(e):
    exact = 2 * stats.norm.isf(math.exp(-e / 2) / 2)
    assert exact * (1 - 1e-9) <= LAPLACE.loss(e, 1).mu <= exact * (1 + EXCESS_OF_GUESS)


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
    found = np.array([LAPLACE.loss(e, releases).delta(epsilon) for epsilon in epsilons])
    seen = high > 1e-9
    assert seen.sum() >= 2
    assert (found[seen] >= low[seen] * (1 - 1e-6)).all()
    assert (found[seen] <= high[seen] * (1 + EXCESS)).all()
    assert found[0] <= high[0] * (1 + EXCESS_OF_GUESS)
    # The bounds are so close that noise smaller by a hundredth is refused.
    more = LAPLACE.loss(1.01 * e, releases).delta(0.0)
    assert more > high[0] * (1 + EXCESS) or releases * e > 10


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


def test_pure_epsilon_is_divided_among_the_releases():
    assert LAPLACE.largest(Promise(epsilon=1.0), 16) == 1 / 16


def test_gaussian_noise_in_closed_form():
    assert GAUSSIAN.deviation(GAUSSIAN.largest(Promise(mu=0.25), 2)) == pytest.approx(32**0.5)
    guess = GAUSSIAN.largest(Promise(delta=0.2), 4)
    assert GAUSSIAN.loss(guess, 4).delta(0.0) == pytest.approx(0.2)
    small = Promise(epsilon=1.0, delta=1e-6)
    assert GAUSSIAN.loss(GAUSSIAN.largest(small, 8), 8).delta(1.0) == pytest.approx(1e-6)
    assert GAUSSIAN.largest(Promise(epsilon=1.0), 2) == 0

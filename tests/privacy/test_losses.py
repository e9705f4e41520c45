"""Privacy losses: numbers by hand, and sums between two convolutions of this file's own."""

from __future__ import annotations

import gc
import json
import math
import time
import types
from dataclasses import replace
from functools import partial

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal, special

import laplace_noise
from dpol.noise import NOISES, privatize
from dpol.privacy.composition import lattice_masses, places, spread
from dpol.privacy.gaussian_dp import delta_of_epsilon, epsilon_of_delta
from dpol.privacy.losses import (
    NOTHING_KEPT,
    Draw,
    Loss,
    mu_of_zcdp,
    of_range,
    one_draw,
    pure,
    range_for,
)
from dpol.privacy.noise_laws import LAPLACE

EXCESS = 1e-4
"""How much larger a number may be than it is; never smaller."""

# ---- numbers by hand (mpmath, closed forms) ------------------------------------------------------

TWO = LAPLACE.loss(0.5, 1) + LAPLACE.loss(1.0, 1)
LARGE = LAPLACE.loss(2.0, 1) + LAPLACE.loss(3.0, 1)
MIXED = Loss(gaussian=0.5) + LAPLACE.loss(0.5, 2)
NUMBERS = {
    "mu of a range": (lambda: of_range(1.6139307).mu, 1.0),
    "mu of a small range": (lambda: of_range(0.3992261).mu, 0.24999996),
    "two Laplace releases at 0.6": (lambda: TWO.delta(0.6), 0.2189055143),
    "two Laplace releases at 1.2": (lambda: TWO.delta(1.2), 0.0747389253),
    "two large Laplace releases": (lambda: LARGE.delta(0.0), 0.8358300028),
    "Gaussian and Laplace at 0": (lambda: MIXED.delta(0.0), 0.324845849),
    "Gaussian and Laplace at 0.5": (lambda: MIXED.delta(0.5), 0.172807715),
    "Gaussian and Laplace at 1": (lambda: MIXED.delta(1.0), 0.067814338),
    "mu of Gaussian and Laplace": (lambda: MIXED.mu, 0.838169621),
    "mu of zCDP": (lambda: Loss(zcdp=0.125).mu, 0.630408),
    "epsilon of zCDP": (lambda: Loss(zcdp=0.125).epsilon(1e-6), 2.41910),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_never_too_small_and_hardly_too_large(name):
    function, exact = NUMBERS[name]
    assert exact * (1 - 1e-7) <= function() <= exact * (1 + EXCESS)


def test_pure_privacy_and_zcdp_add_up():
    both = Loss(zcdp=0.125) + pure(0.3)
    assert Loss(zcdp=0.125).mu < both.mu <= 0.73603
    assert (both.numerical, pure(0.3).numerical) == (True, False)
    assert not Loss(zcdp=0.125, told=0.1).numerical, "no mu is promised, so none is computed"
    ((draw, _),) = pure(0.3).draws  # of one kind, listed twice
    assert Loss(draws=((draw, 1), (draw, 2))) + Loss() == pure(0.3).times(3)


@pytest.mark.parametrize("mu", [1e-6, 0.25, 1.0, 4.0, 50.0])
def test_the_range_for_a_mu_has_this_mu(mu):
    assert of_range(range_for(mu)).mu == pytest.approx(mu, rel=1e-12)
    assert of_range(range_for(mu)).delta(0.0) >= delta_of_epsilon(0.0, mu)


# ---- sums against two convolutions ---------------------------------------------------------------

STEPS = 500
"""Steps of a grid from 0 to the end of a part of size 1."""


def masses_of(loss: Loss, step: float, *, up: bool) -> tuple[np.ndarray, int, float]:
    """Probabilities with the person, each loss rounded to the next grid point up or down.

    Also the place of the loss 0, and the probability of losses beyond the grid.
    """
    if mu := loss.gaussian:
        k = math.ceil(mu * (mu / 2 + 9) / step)
        ends = step * np.arange(-k, k + 1)
        cells = np.diff(special.ndtr(ends / mu - mu / 2))
        beyond = float(special.ndtr(mu / 2 - ends[-1] / mu))
        return _rounded(cells, up=up), k, beyond
    (draw, _), *_ = loss.draws
    k = math.ceil(draw.e / step)
    ends = np.clip(step * np.arange(-k, k + 1), -draw.e, draw.e)
    cells = 2 * np.diff(np.exp(ends / 2)) * math.exp(draw.between)
    for place, mass in ((-draw.e, draw.ends), (0.0, draw.middle), (draw.e, draw.ends)):
        cell = int(np.searchsorted(ends, place, side="right")) - 1
        cells[min(max(cell, 0), 2 * k - 1)] += math.exp(mass + place / 2)
    return _rounded(cells / cells.sum(), up=up), k, 0.0


def _rounded(cells: np.ndarray, *, up: bool) -> np.ndarray:
    return np.concatenate([[0.0], cells] if up else [cells, [0.0]])


def deltas_of(parts: list[Loss], told: float, step: float, *, up: bool) -> tuple:
    """Losses of the grid, and delta at those from 0 on, too large or too small."""
    total, zero = np.ones(1), 0
    for part in parts:
        own, place, beyond = masses_of(part, step, up=up)
        total, zero = signal.fftconvolve(total, own), zero + place
        told = 1 - (1 - told) * (1 - up * beyond)
    total = np.maximum(total, 0.0)
    losses = step * (np.arange(len(total)) - zero)
    # The sum of P(l) (1 - e^(x - l)) over l > x, from the end.
    above = np.cumsum(total[::-1])[::-1]
    lowered = np.cumsum((total * np.exp(-losses))[::-1])[::-1]
    at = losses >= 0
    deltas = above[at] - np.exp(losses[at]) * lowered[at]
    return losses[at], told + (1 - told) * np.clip(deltas, 0.0, 1.0)


SIZES = st.floats(0.05, 2.5)
PARTS = {
    "Gaussian": lambda e, _: Loss(gaussian=e),
    "Laplace": lambda e, _: LAPLACE.loss(e, 1),
    "range": lambda e, _: of_range(e),
    "pure": lambda e, _: pure(e),
    "seldom": lambda e, q: one_draw(Draw(e=e, between=0.0).seldom(q)),
    "seldom Laplace": lambda e, q: one_draw(
        Draw(e=e, ends=-math.log(2), between=-math.log(4)).seldom(q)
    ),
}
SUMS = st.lists(
    st.tuples(st.sampled_from(sorted(PARTS)), SIZES, st.floats(0.01, 0.9)), min_size=1, max_size=4
)


@settings(max_examples=40, deadline=None)
@given(drawn=SUMS, told=st.sampled_from([0.0, 0.0, 1e-3]))
def test_sums_lie_between_convolutions_rounded_down_and_up(drawn, told):
    parts = [PARTS[name](e, q) for name, e, q in drawn]
    loss = sum(parts, Loss(told=told))
    step = max(e for _, e, _ in drawn) / STEPS
    losses, low = deltas_of(parts, told, step, up=False)
    _, high = deltas_of(parts, told, step, up=True)
    for at in np.linspace(0, len(losses) - 1, 7).astype(int)[:-1]:
        delta, x = loss.delta(float(losses[at])), losses[at]
        over = high[np.searchsorted(losses, x)] if at < len(high) else 0.0
        assert low[at] <= delta * (1 + 1e-9) + 1e-13
        assert delta <= over * (1 + 3e-3) + 1e-9
    if told:
        assert loss.mu == math.inf
        return
    certain = low > 1e-9  # sums of probabilities have no more digits
    assert (low[certain] <= delta_of_epsilon(losses[certain], loss.mu) * (1 + 1e-6)).all()
    size = min(len(low), len(high))
    assert (high[:size] >= delta_of_epsilon(losses[:size], loss.mu / 1.01) - 1e-15).any()


@given(steps=st.integers(1, 60), e=st.floats(1e-3, 60), q=st.floats(0.01, 1))
def test_a_loss_between_two_points_keeps_its_probabilities_with_and_without_the_person(steps, e, q):
    for sizes in ({"ends": 0.0}, {"between": 0.0}, {"ends": -0.7, "between": -1.4}):
        draw = Draw(e=e, **sizes).seldom(q)
        masses = draw.masses(steps)
        total = np.logaddexp.reduce(masses + e / steps / 2 * places(len(masses)))
        assert total == pytest.approx(draw.log_moment(np.ones(1))[0], abs=1e-8)


def test_a_sum_with_a_smaller_part_fails_between_them():
    """Power: 1% of a part is missing."""
    parts = [Loss(gaussian=0.8), of_range(1.0)]
    losses, low = deltas_of(parts, 0.0, 1 / STEPS, up=False)
    less = Loss(gaussian=0.8) + of_range(0.99)
    assert low[0] > less.delta(0.0)
    assert (low > delta_of_epsilon(losses, less.mu)).any()


@settings(max_examples=20, deadline=None)
@given(rho=st.floats(0.005, 3.0), other=SIZES, releases=st.integers(1, 8))
def test_zcdp_covers_what_has_it(rho, other, releases):
    """Gaussian noise, and randomised response, each beside a Laplace release."""
    loss = Loss(zcdp=rho / releases).times(releases) + LAPLACE.loss(other, 1)
    e = 0.999 * special.logit(special.ndtr(mu_of_zcdp(rho) / 2))
    for known in (Loss(gaussian=math.sqrt(2 * rho)), pure(float(e))):
        known = known + LAPLACE.loss(other, 1)
        assert known.mu <= loss.mu
        for delta in (0.3, 1e-2, 1e-6):
            assert known.epsilon(delta) <= loss.epsilon(delta) * (1 + 1e-9)
        for epsilon in (0.0, 0.1, 1.0, 4.0):
            assert known.delta(epsilon) <= loss.delta(epsilon) * (1 + 1e-9)


# ---- sums of unlike parts ------------------------------------------------------------------------


def staircase(e: float, releases: int) -> Loss:
    """Noise whose density is a staircase (Geng and Viswanath): a release loses e, 0 or -e."""
    b = math.exp(-e)
    larger = 1 - b / (2 * math.cbrt(b * (1 + b) / 2))
    middle = math.log1p(-larger * (1 + b))
    return one_draw(Draw(e=e, ends=math.log(larger) - e / 2, middle=middle)).times(releases)


LATTICES = {
    "staircase and staircase": (staircase(0.5631, 2), staircase(1.2308, 2)),
    "staircase and Gaussian": (staircase(1.8616, 1), Loss(gaussian=0.034)),
    "ranges far apart": (of_range(2.3737684161446854e-07), of_range(0.00012983443910253412)),
    "many and few": (staircase(0.99, 1513), Loss(gaussian=0.0999)),
    "very many": (pure(1e-3).times(100_000), LAPLACE.loss(0.5, 2)),
    "tiny and large": (pure(1e-8).times(50), LAPLACE.loss(300.0, 1)),
    "a peak and a tiny part": (
        one_draw(Draw(e=26.75, ends=-0.7, between=-1.4).seldom(0.034)),
        Loss(gaussian=2.3e-4),
    ),
}


@pytest.mark.parametrize("name", LATTICES)
def test_unlike_losses_add_up(name):
    """The sum is at least each of the two, up to their grids, and at most both together."""
    one, other = LATTICES[name]
    both = one + other
    assert max(one.mu, other.mu) * (1 - 1e-4) <= both.mu <= (one.mu + other.mu) * (1 + 2e-3)
    assert max(one.guess, other.guess) * (1 - 1e-9) <= both.guess <= 1
    assert math.isfinite(both.epsilon(1e-14))


@pytest.mark.parametrize(
    ("loss", "delta"),
    [
        (LAPLACE.loss(2.775e-8, 9723) + LAPLACE.loss(5.15e-8, 2), 1e-6),
        (of_range(3.4654242e-7).times(18), 3.278e-8),
    ],
)
def test_epsilon_of_tiny_strengths_is_not_rounded_to_0(loss, delta):
    assert loss.delta(0.0) > delta >= loss.delta(loss.epsilon(delta)) > 0


def test_a_huge_loss_is_not_cut_off_by_its_coarse_grid():
    loss = of_range(8.66).times(96_520)
    assert loss.delta(0.0) == pytest.approx(1)
    assert 1e5 < loss.epsilon(1e-6) < loss.most


def test_few_releases_beside_tiny_ones_have_hardly_a_larger_mu():
    """Masses far apart need another way of adding than a transform, whose error would count."""
    few = LAPLACE.loss(0.00315, 12)
    both = few + pure(1.344e-8).times(4) + staircase(5.981e-6, 7)
    assert few.mu <= both.mu <= few.mu * 1.001


@given(e=st.floats(1e-8, 60), share=st.floats(0, 0.999))
def test_delta_of_one_range_is_its_closed_form(e, share):
    found = of_range(e).delta(share * e)
    with mpmath.workdps(40):
        x, end = mpmath.mpf(share * e), mpmath.mpf(e)
        exact = (mpmath.exp(end / 2) - mpmath.exp(x / 2)) ** 2 / mpmath.expm1(end)
        assert exact <= found <= exact * (1 + 1e-8)


@pytest.mark.parametrize(
    ("loss", "mu"),
    [
        (staircase(0.00874, 1000) + LAPLACE.loss(0.0806, 1), 0.288),
        (staircase(0.00495, 1000) + LAPLACE.loss(0.132, 1), 0.207),
        (pure(0.0208).times(1000) + Loss(gaussian=0.945), 1.152),
        (pure(0.0726).times(1000) + Loss(gaussian=2.01), 3.05),
    ],
)
def test_mu_of_many_releases_beside_one_is_hardly_too_large(loss, mu):
    """By convolution, to three digits."""
    assert mu * (1 - 2e-3) <= loss.mu <= mu * (1 + 5e-3)


@pytest.mark.parametrize("count", [1, 2, 7, 200])
@pytest.mark.parametrize("middle", [-math.inf, -40.0, 0.0, 3.0])
def test_masses_of_a_lattice_are_those_of_a_convolution(count, middle):
    one = np.exp([0.0, middle, 0.0]) / (2 + math.exp(middle))
    expected = np.ones(1)
    for _ in range(count):
        expected = np.convolve(expected, one)
    size = math.log(2 + math.exp(middle))
    found = np.exp(lattice_masses(-size, middle - size, count))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-300)


@given(own=st.floats(1e-3, 3), step=st.floats(1e-3, 3), k=st.integers(1, 30))
def test_masses_on_another_grid_keep_probabilities_with_and_without_the_person(own, step, k):
    logs = np.log(1.0 + np.minimum(np.arange(2 * k + 1), np.arange(2 * k + 1)[::-1]))
    found = spread(logs, own, step)
    for masses, width in ((logs, own), (found, step)):
        total = np.logaddexp.reduce(masses + width / 2 * places(len(masses)))
        assert total == pytest.approx(np.logaddexp.reduce(logs + own / 2 * places(len(logs))))


# ---- the record of each noise, for any number of rounds ------------------------------------------


def test_a_record_that_was_read_knows_the_next_longer_stay(random_stream):
    record = privatize(
        random_stream(40, 3), laplace_noise.NAME, 1.0, seed=1, replicates=1
    ).guarantee
    read = replace(record, in_rounds=None)
    mus = [read.of_rounds(rounds).mu for rounds in (1, 3, 8, 9, 17)]
    known = [record.of_rounds(rounds).mu for rounds in (1, 4, 8)]
    assert mus == [*known, 2 * known[-1], 3 * known[-1]]


# ---- nothing that leaves `privatize` holds raw gains ---------------------------------------------


def reached(made):
    """All objects that others refer to, through partials and closures; not through modules."""
    seen, rest = {}, [made]
    while rest:
        one = rest.pop()
        if id(one) in seen or isinstance(one, types.ModuleType | type):
            continue
        seen[id(one)] = one
        if isinstance(one, types.FunctionType):
            rest += [cell.cell_contents for cell in one.__closure__ or ()]
            rest += [*(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()]
        else:
            rest += gc.get_referents(one)
    return list(seen.values())


def holds_gains(made, stream):
    arrays = [it for it in reached(made) if isinstance(it, np.ndarray)]
    assert arrays
    return any(
        np.shares_memory(it, stream.gains)
        or (it.shape == stream.gains.shape and np.array_equal(it, stream.gains))
        for it in arrays
    )


@pytest.mark.parametrize("name", NOISES)
def test_no_object_that_leaves_privatize_reaches_raw_gains(name, random_stream):
    stream = replace(random_stream(12, 3), stay=2)
    noisy = privatize(stream, name, 1.0, seed=1, replicates=2)
    assert not holds_gains(noisy, stream)
    leaky = replace(noisy.guarantee, in_rounds=partial(lambda it, v: Loss(), stream))  # power
    assert holds_gains(replace(noisy, guarantee=leaky), stream)


# ---- what is not proved is not said --------------------------------------------------------------


def test_told_keeps_no_mu_and_bounds_epsilon():
    loss = Loss(gaussian=1.0) + pure(1.0, 1e-6)
    assert loss.mu == loss.epsilon(1e-6) == loss.epsilon(1e-7) == math.inf
    # Only what is left of delta pays for the Gaussian part.
    smallest = epsilon_of_delta(1e-6, 1.0)
    assert smallest < loss.epsilon(2e-6) <= smallest + 1
    assert loss.delta(loss.epsilon(2e-6)) <= 2e-6
    assert pure(1.0, 1e-6).epsilon(1e-6) == 1.0
    assert (loss + NOTHING_KEPT).guess == 1.0


def test_draws_bound_delta_only_beyond_their_largest_loss():
    """Below it the other parts need not say anything."""
    loss = Loss(zcdp=1e-12) + pure(1.0)
    assert loss.delta(0.5) >= pure(1.0).delta(0.5)


def test_many_draws_beside_gaussian_noise_bound_the_tests_beyond_the_grid():
    """The draws reach 500 deviations."""
    loss = Loss(gaussian=0.5) + pure(0.5).times(500)
    assert math.hypot(0.5, pure(0.5).times(500).mu) * (1 - 1e-2) < loss.mu < math.inf


@pytest.mark.parametrize(
    ("gaussian", "e", "chance", "draws"),
    [(0.1, 5.0, 1e-10, 100), (0.3, 1.0, 1e-20, 50), (0.01, 10.0, 1e-12, 60)],
)
def test_seldom_draws_beside_gaussian_noise_have_the_mu_of_their_rarest_test(
    gaussian, e, chance, draws
):
    """The test that all draws happen, and each loses e, is right more seldom than a double says."""
    loss = Loss(gaussian=gaussian, draws=((pure(e).draws[0][0].seldom(chance), draws),))
    right = draws * math.log(chance * special.expit(e))
    alone = special.ndtri_exp(right) - special.ndtri_exp(right - draws * e)
    assert alone <= loss.mu <= 1.005 * math.hypot(gaussian, alone)


# ---- any sum has an answer in time ---------------------------------------------------------------


def seldom(loss: Loss, chance: float) -> Loss:
    return one_draw(loss.draws[0][0].seldom(chance))


KINDS = {"Gaussian": lambda e: Loss(gaussian=e), "Laplace": lambda e: LAPLACE.loss(e, 1)}
KINDS |= {"range": of_range, "pure": pure}
SECONDS = 6.0
"""CPU of a sum: 3 s on an idle machine."""


def drawn_parts(number: int) -> list[tuple[Loss, int]]:
    """One to three kinds, of 1 to 1e5 releases and strengths of 1e-10 to 50, a sixth seldom."""
    rng = np.random.default_rng([11, number])
    parts = []
    for _ in range(rng.integers(1, 4)):
        kind, least = rng.choice(sorted(KINDS)), rng.choice([1e-10, 1e-4])
        e, count = math.exp(rng.uniform(math.log(least), math.log(50))), 10 ** rng.uniform(0, 5)
        one = KINDS[kind](e)
        if kind != "Gaussian" and rng.random() < 1 / 6:
            one = seldom(one, 10 ** rng.uniform(-7, 0))
        parts.append((one, 1 if rng.random() < 0.4 else int(count)))
    return parts


def mu_of_a_test(loss: Loss) -> float:
    """A mu that a loss of one draw has at least, by one test in closed form: the loss is e."""
    if loss.gaussian:
        return loss.gaussian
    ((draw, count),) = loss.draws
    size = draw.log_moment(np.ones(1))[0]
    if draw.between == -math.inf:  # all draws lose e
        right = count * (draw.ends + draw.e / 2 - size)
        wrong = right - count * draw.e
    else:  # all draws lose e / 2 at least
        part = lambda sign: np.logaddexp(  # noqa: E731
            draw.ends + sign * draw.e / 2,
            draw.between + math.log(2 * abs(math.expm1(-sign * draw.e / 4))) + sign * draw.e / 2,
        )
        right, wrong = (count * (part(sign) - size) for sign in (1, -1))
    if right > -1e-15:
        return 0.0
    return float(special.ndtri_exp(right) - special.ndtri_exp(wrong))


@pytest.mark.parametrize("number", range(60))
def test_a_drawn_sum_has_a_safe_mu_in_three_seconds(number):
    """At least that of a test of each kind, and of each kind alone up to its grid."""
    parts = drawn_parts(number)
    total = sum((one.times(count) for one, count in parts), Loss())
    start = time.process_time()
    mu = total.mu
    assert time.process_time() - start < SECONDS
    for one, count in parts:
        alone = one.times(count)
        # Quantiles near 0 are differences of numbers near 1, with an error of 1e-16 each.
        assert mu_of_a_test(alone) * (1 - 1e-9) - 1e-15 <= mu
    gaussians = math.sqrt(sum(one.gaussian**2 * count for one, count in parts))
    assert gaussians * (1 - 1e-9) <= mu < math.inf


FAR_APART = {
    "seldom ranges of 30": (seldom(of_range(30), 1e-6).times(2) + pure(0.5), 5.52, 5.95),
    "seldom ranges of 20": (seldom(of_range(20), 1e-6).times(2) + pure(0.5), 4.12, 4.16),
    "seldom ranges of 50": (seldom(of_range(50), 1e-3).times(2) + pure(0.5), 9.5, 10.1),
    "thousands of seldom ranges": (seldom(of_range(30), 1e-3).times(5000), 300.0, 346.0),
    "a tiny part and a seldom one": (
        Loss(gaussian=0.00028) + seldom(of_range(0.298), 2.2e-6) + pure(0.0003),
        0.052967,
        0.0530,
    ),
    "many and a seldom one": (
        of_range(0.0862) + pure(0.00085).times(737) + seldom(LAPLACE.loss(30, 1), 4.2e-6),
        4.3532,
        4.3533,
    ),
}


@pytest.mark.parametrize("name", FAR_APART)
def test_losses_far_apart_have_a_mu_in_three_seconds(name):
    loss, least, most = FAR_APART[name]
    start = time.process_time()
    assert least <= loss.mu <= most
    assert time.process_time() - start < SECONDS
    assert math.isfinite(loss.epsilon(1e-9))


def delta_of_range(epsilon, e):
    """Delta of one range at any epsilon, in closed form."""
    if epsilon < 0:
        return 1 - mpmath.exp(epsilon) * (1 - delta_of_range(-epsilon, e))
    return (mpmath.exp(e / 2) - mpmath.exp(min(epsilon, e) / 2)) ** 2 / mpmath.expm1(e)


@pytest.mark.parametrize("e", [20, 30])
@pytest.mark.parametrize("chance", [1e-6, 1e-3])
@pytest.mark.parametrize("share", [0.2, 0.7, 1.2])
def test_delta_of_two_seldom_ranges_is_hardly_above_its_integral(e, chance, share):
    """By how many of the two happen, and for both by an integral over the loss of one."""
    found = seldom(of_range(e), chance).times(2).delta(share * e)
    with mpmath.workdps(30):
        e, q, epsilon = mpmath.mpf(e), mpmath.mpf(chance), mpmath.mpf(share * e)
        ends = sorted({-e, epsilon - e, min(epsilon, e), e})  # of pieces without a corner
        both = mpmath.quad(lambda x: mpmath.exp(x / 2) * delta_of_range(epsilon - x, e), ends)
        both /= 4 * mpmath.sinh(e / 2)
        exact = q * q * both + 2 * q * (1 - q) * delta_of_range(epsilon, e)
        assert exact <= found <= 1.05 * exact


@pytest.mark.parametrize("loss", [MIXED + pure(0.2, 1e-5), NOTHING_KEPT, Loss(zcdp=0.5)])
def test_a_loss_is_plain_numbers(loss):
    assert Loss.of_data(json.loads(json.dumps(loss.as_data()))) == loss


@pytest.mark.parametrize(
    "wrong",
    [
        {"gaussian": -1.0},
        {"told": 1.5},
        {"zcdp": math.nan},
        {"draws": ((Draw(e=1.0), 0),)},
    ],
)
def test_a_wrong_part_is_refused(wrong):
    with pytest.raises(ValueError, match="must"):
        replace(Loss(), **wrong)

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import given, settings
from hypothesis import strategies as st

from dpol.studies.labels.composition import COMPOSITIONS, composed_delta, scale_factor

EPSILONS = (0.25, 1.0, 4.0)
sizes = st.integers(1, 64)
epsilons = st.floats(0.05, 8)
deltas = st.floats(-10, -0.05).map(lambda power: 10**power)


def delta_of_one(factor, epsilon):
    """Of one Laplace mechanism: 1 - exp((eps - 1/b) / 2)."""
    return max(0.0, -math.expm1((epsilon - 1 / factor) / 2))


def delta_of_two(factor, epsilon, nodes=200):
    """By the law of the privacy loss: with a = 1/b, atoms at a (1/2) and -a (the rest), and
    between them a density exp((l - a) / 2) / 4.
    """
    a = 1 / factor
    unit, weight = np.polynomial.legendre.leggauss(nodes)

    def between(low):
        """Nodes and masses of the density on (low, a); only a sum above eps counts."""
        half = (a - np.clip(low, -a, a))[..., None] / 2
        loss = a + half * (unit - 1)
        return loss, half * weight * np.exp((loss - a) / 2) / 4

    def total(loss, mass):
        return float((mass * np.maximum(0.0, -np.expm1(epsilon - loss))).sum())

    first, one = between(np.array(epsilon - a))
    second, other = between(epsilon - first)
    atoms = total(2 * a, 0.25) + total(a + first, one)
    return atoms + total(first[:, None] + second, one[:, None] * other)


def library_delta(n_coordinates, factor, epsilon, *, pessimistic):
    """By the accountant at a resolution of its own, rounded either way."""
    one = privacy_loss_distribution.from_laplace_mechanism(
        factor,
        pessimistic_estimate=pessimistic,
        value_discretization_interval=1 / (900 * factor),
        use_connect_dots=pessimistic,
    )
    return one.self_compose(n_coordinates).get_delta_for_epsilon(epsilon)


def test_the_message_of_sixteen_hypotheses():
    """The numbers of the issue: 46.1 published, 16 basic, 15.2 exact."""
    found = [scale_factor(16, 1.0, 1e-6, kind) for kind in ("published", "basic", "exact")]
    assert found[0] == 2 * math.sqrt(32 * math.log(1e6)) + 4
    assert found[1] == 16
    assert found[2] == pytest.approx(15.17, abs=0.01)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.3, 0.9])
def test_one_coordinate_has_a_closed_form(epsilon, delta):
    expected = 1 / (epsilon - 2 * math.log1p(-delta))
    found = scale_factor(1, epsilon, delta, "exact")
    assert expected <= found <= expected * 1.0002


@pytest.mark.parametrize(("factor", "epsilon"), [(0.3, 1.0), (1.5, 1.0), (0.9, 2.0), (5.0, 0.1)])
def test_composed_delta_is_that_of_a_numerical_convolution(factor, epsilon):
    assert composed_delta(1, factor, epsilon) == pytest.approx(
        delta_of_one(factor, epsilon), rel=1e-5
    )
    expected = delta_of_two(factor, epsilon)
    assert expected <= composed_delta(2, factor, epsilon) <= expected * 1.0002


@pytest.mark.parametrize(("epsilon", "delta"), [(0.25, 0.05), (1.0, 0.01), (1.0, 0.4), (4.0, 0.1)])
def test_two_coordinates_agree_with_a_numerical_convolution(epsilon, delta):
    found = scale_factor(2, epsilon, delta, "exact")
    assert delta_of_two(found, epsilon) <= delta < delta_of_two(found * 0.999, epsilon)


@pytest.mark.parametrize(
    ("n", "epsilon", "delta"),
    [*itertools.product((2, 16, 64), EPSILONS, (1e-6, 1e-3, 0.1)), (1000, 1.0, 1e-6)],
)
def test_exact_is_enough_and_a_hundredth_less_is_not(n, epsilon, delta):
    """The second half by a delta that is rounded down."""
    found = scale_factor(n, epsilon, delta, "exact")
    assert library_delta(n, found, epsilon, pessimistic=True) <= delta * 1.0001
    assert library_delta(n, 0.99 * found, epsilon, pessimistic=False) > delta


@pytest.mark.parametrize("n", [1, 2, 16, 64])
def test_the_published_factor_is_private_but_larger_than_needed(n):
    for epsilon, delta in itertools.product(EPSILONS, (1e-9, 1e-6, 1e-3)):
        published = scale_factor(n, epsilon, delta, "published")
        assert composed_delta(n, published, epsilon) <= delta + 2e-13
        assert published > 1.5 * scale_factor(n, epsilon, delta, "exact")


@settings(max_examples=15)
@given(sizes, epsilons, deltas)
def test_exact_never_needs_more_than_basic(n, epsilon, delta):
    exact, basic = (scale_factor(n, epsilon, delta, kind) for kind in ("exact", "basic"))
    assert 0 < exact <= basic == n / epsilon
    assert exact == basic or composed_delta(n, exact, epsilon) <= delta


@settings(max_examples=10)
@given(sizes, epsilons, deltas, st.integers(1, 20), st.floats(1, 3), st.floats(1, 100))
def test_more_coordinates_or_more_privacy_need_more_noise(n, epsilon, delta, more, times, less):
    for kind in COMPOSITIONS:
        least = scale_factor(n, epsilon, delta, kind)
        for harder in (
            (n + more, epsilon, delta),
            (n, epsilon / times, delta),
            (n, epsilon, delta / less),
        ):
            # Results are rounded up to five digits.
            assert scale_factor(*harder, kind) >= least * (1 - 1e-4)


def test_exact_returns_to_basic_where_delta_is_below_the_rounding_errors():
    assert scale_factor(64, 1.0, 5e-14, "exact") == 64
    assert scale_factor(64, 1.0, 1e-10, "exact") < 64


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_without_privacy_there_is_no_noise(composition):
    assert scale_factor(16, math.inf, 1e-6, composition) == 0.0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_coordinates": 0}, "n_coordinates must be at least 1, got 0"),
        ({"epsilon": 0.0}, "epsilon must be above 0, got 0.0"),
        ({"epsilon": math.nan}, "epsilon must be above 0, got nan"),
        ({"delta": 0.0}, "delta must lie in .0, 1., got 0.0"),
        ({"delta": 1.0}, "delta must lie in .0, 1., got 1.0"),
        ({"composition": "advanced"}, "'advanced' is not one of published, basic, exact"),
    ],
)
def test_arguments_out_of_range_are_refused(changed, message):
    arguments = {"n_coordinates": 4, "epsilon": 1.0, "delta": 1e-6, "composition": "exact"}
    with pytest.raises(ValueError, match=message):
        scale_factor(**{**arguments, **changed})

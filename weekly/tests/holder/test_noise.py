from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.core.errors import ConfigError
from dpol_weekly.deployment import checked_deployment
from dpol_weekly.noise import CountNoise, in_steps
from dpol_weekly.released.row import noisy_count
from releases import KEYS

ROOT2 = math.sqrt(2.0)
mus = st.decimals("0.001", "100", places=4)
sensitivities = st.decimals("0.001", "1000", places=6)


@pytest.mark.parametrize(
    ("mu", "s", "decimals", "scale"),
    [
        ("0.5", "1", 6, 2828429),  # 2828427.1 + 1, rounded up
        ("1", "1", 6, 1414215),
        ("1", "2", 6, 2828429),
        ("0.1", "1", 6, 14142137),
        ("2", "1", 7, 7071069),
        ("0.001", "1000", 6, 1414213562375),
        ("100", "0.001", 11, 1414215),
        ("0.5", "0.142858", 7, 4040636),  # 4040634.4 + 1, rounded up
    ],
)
def test_grid_and_scale_by_hand(mu, s, decimals, scale):
    noise = CountNoise(Decimal(mu), Decimal(s))
    assert (noise.decimals, noise.scale) == (decimals, scale)


@given(mus, sensitivities)
def test_each_of_two_counts_gets_mu_over_root_two_and_hardly_more_noise_than_that(mu, s):
    noise = CountNoise(mu, s)
    steps = s.scaleb(noise.decimals, Context(prec=60))
    assert steps == int(steps)
    # Exactly: one step less would not be enough.
    assert 2 * Fraction(int(steps), noise.scale - 1) ** 2 <= Fraction(mu) ** 2
    assert 2 * Fraction(int(steps), noise.scale - 2) ** 2 > Fraction(mu) ** 2
    assert 2**20 < noise.scale < 2**53
    assert noise.standard_deviation == pytest.approx(ROOT2 * float(s / mu), rel=2e-6)


@pytest.mark.parametrize("key", ["mu", "count_sensitivity"])
@pytest.mark.parametrize("number", ["0.0009", "1000.1", "-1", "0", "nan", "inf", "1e999"])
def test_what_is_out_of_range_is_refused_in_the_agreement(key, number):
    with pytest.raises(ConfigError, match=f"{key} = "):
        checked_deployment(KEYS | {key: float(number)}, "x")
    with pytest.raises(ConfigError, match="must be a number with at most 6 decimals"):
        checked_deployment(KEYS | {"count_sensitivity": 0.1234567}, "x")


@given(st.decimals(0, 999_999_999, places=12), st.integers(0, 9))
def test_rounding_is_half_up(number, decimals):
    exact = number * 10**decimals + Decimal("0.5")
    expected = int(exact.to_integral_value(ROUND_FLOOR))
    assert in_steps(f"{number:f}", decimals) == expected


@given(
    st.decimals(0, 1000, places=8),
    st.decimals(0, 3, places=8),
    st.sampled_from(["1", "3", "0.142858"]),
)
def test_rounding_moves_no_two_counts_further_apart_than_the_sensitivity(low, apart, s):
    """The step of the proof: |a - b| <= s implies |round(a) - round(b)| <= S."""
    noise = CountNoise(Decimal("0.5"), Decimal(s))
    apart = min(apart, noise.count_sensitivity)
    moved = in_steps(f"{low + apart:f}", noise.decimals) - in_steps(f"{low:f}", noise.decimals)
    assert 0 <= moved <= noise.count_sensitivity.scaleb(noise.decimals)


def test_rows_by_hand():
    noise = CountNoise(Decimal("0.50"), Decimal("1.0"))
    fine = CountNoise(Decimal(100), Decimal("0.001"))
    assert noisy_count("999999999.12345678901", fine, 7) == "999999999.12345678908"
    rows = [noisy_count(text, noise, -500_001) for text in ("3.4", "0", "12.")]
    assert rows == ["2.899999", "-0.500001", "11.499999"]

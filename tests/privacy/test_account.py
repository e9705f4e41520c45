from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from dpol.core.words import at_least, at_most
from dpol.privacy.account import account, best_guess
from dpol.privacy.losses import pure


@pytest.mark.parametrize("mu", [0.25, 1.0, 4.0])
def test_the_best_guess_is_the_best_test_of_the_trade_off_function(mu):
    alpha = np.linspace(0, 1, 1001)
    right = (1 - (alpha + special.ndtr(-special.ndtri(alpha) - mu)) / 2).max()
    assert right == pytest.approx(best_guess(mu), abs=1e-5)


@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.2])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_the_best_guess_of_epsilon_is_the_best_test_that_it_allows(epsilon, delta):
    """Error rates a and b are allowed if 1 - b <= e^epsilon a + delta, and vice versa."""
    a = np.linspace(0, 1, 100_001)
    least = np.maximum(1 - delta - np.exp(epsilon) * a, np.exp(-epsilon) * (1 - delta - a))
    right = (1 - (a + np.maximum(least, 0)) / 2).max()
    assert pure(epsilon, delta).guess == pytest.approx(right, abs=2e-4)


def test_the_table_of_the_documentation_is_right():
    text = (Path(__file__).parents[2] / "docs/explanation/privacy.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", text, re.MULTILINE)
    assert [int(weeks) for weeks, _ in rows] == [1, 4, 13, 52]
    for weeks, cells in rows:
        shown = [float(cell.rstrip("%")) for cell in cells.split(" | ")]
        for place, mu in enumerate((0.25, 0.5, 1.0)):
            row = account(mu, int(weeks))
            assert row.epsilon <= shown[2 * place] <= 1.01 * row.epsilon
            assert 0 <= shown[2 * place + 1] - 100 * row.best_guess < 0.1


@given(st.floats(1e-9, 1e9), st.integers(1, 8))
def test_rounding_goes_to_the_safe_side_and_no_further_than_a_digit(value, digits):
    up, down = float(at_most(value, digits)), float(at_least(value, digits))
    assert down * (1 - 1e-11) <= value <= up * (1 + 1e-11)
    assert up - down <= 1.001 * 10.0 ** (math.floor(math.log10(value)) + 1 - digits)


def test_a_notebook_shows_a_table_with_rho():
    """0.5 over four weeks is 1, whose rho is 1 / 2."""
    shown = account(0.5, weeks=4)._repr_html_()
    for name, text in {"weeks": "4", "mu": "1", "rho": "0.5", "epsilon": "4.887"}.items():
        assert f"<tr><th>{name}</th><td>{text}</td></tr>" in shown

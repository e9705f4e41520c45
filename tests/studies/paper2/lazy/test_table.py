"""The table of the rates stated in the paper."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from dpol.studies.paper2.lazy.rates import RATES, rates_table
from dpol.studies.study import Facts


def test_stated_rates_by_hand() -> None:
    """T = 10^6, d = e^4, eps = 1/8 or 1: sqrt(4 T) = 2000, T^(1/3) = 100, sqrt(d) = e^2."""
    d, root = math.exp(4), math.exp(2)
    new, prior, footnote = (rate.value for rate in RATES["lazy"])
    assert new(1e6, d, 1 / 8) == pytest.approx(2000 + 100 * 4 * 4)
    assert prior(1e6, d, 1 / 8) == pytest.approx(2000 + root * 4 * 8)
    assert footnote(1e5, d, 1 / 32) == pytest.approx(100 * 16)
    new, prior = (rate.value for rate in RATES["convex"])
    assert new(1e6, d, 1 / 8) == pytest.approx(1000 + 100 * root * 4)
    assert prior(1e6, d, 1 / 8) == pytest.approx(math.exp(1) * 1000 * math.sqrt(8))
    assert prior(1e8, 4, 1.0) == pytest.approx(
        min(math.sqrt(2) * 1e4, 1e4 + 2 * (1e8 ** (1 / 3) + 1e3))
    )


@pytest.mark.parametrize("name", ["lazy", "convex"])
def test_the_table_of_rates_has_formulas_and_values_at_the_sizes_of_the_run(name: str) -> None:
    sizes = [(1000, 300, 4.0), (1000, 300, 0.5), (20, 300, 0.5), (20, 7, 0.5)]
    rows = pd.DataFrame(2 * sizes, columns=["T", "d", "epsilon"]).sample(frac=1, random_state=1)
    table = rates_table({name: rows}, Facts({}, False, 0.9))
    first, *values = table.sections
    ((_, formulas),) = first.groups[0].lines
    assert [cell.text for cell in formulas[:-1]] == [rate.formula for rate in RATES[name]]
    assert [(section.title, [group.title for group in section.groups]) for section in values] == [
        ("d = 7", ["20"]),
        ("d = 300", ["20", "1,000"]),
    ]
    label, cells = values[1].groups[1].lines[1]
    stated = [rate.value(1000, 300, 4.0) for rate in RATES[name]]
    assert label == "ε = 4"
    assert [cell.text for cell in cells[:-1]] == [f"{value:,.0f}" for value in stated]
    assert cells[-1].text == f"{stated[1] / stated[0]:.2f}"

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from dpol.core.intervals import student_factor
from dpol.show.table import Entry
from dpol.studies.lazy.convex import STUDY
from dpol.studies.lazy.convex.exponents import exponent_table, fitted
from dpol.studies.lazy.convex.settings import Convex
from dpol.studies.lazy.shown import TITLES
from dpol.studies.study import Facts

SIZES = {"T": [100, 1000, 10_000], "d": [4, 64], "epsilon": [1.0, 4.0]}
POWERS = {"l2p-sound": (0.5, 0.5, -2 / 3), "dp-ftrl": (0.5, 0.25, -0.5)}


def regrets(error: float = 0.0) -> pd.DataFrame:
    """Return regrets that are products of powers, a third of the regret of the centre."""
    rows = []
    for name, (T, d, epsilon) in itertools.product(POWERS, itertools.product(*SIZES.values())):
        a, b, c = POWERS[name]
        mean = 3 * T**a * d**b * epsilon**c
        row = {"loss": "linear", "body": "ball", "T": T, "d": d, "epsilon": epsilon}
        row |= {"algorithm": name, "mean_regret": mean, "standard_error": error * mean}
        rows.append({**row, "still_regret": 3 * mean, "replicates": 20})
    return pd.DataFrame(rows)


def test_exponents_of_products_of_powers_are_found() -> None:
    fits = fitted(regrets(), 0.95)
    places = list(SIZES)
    assert fits["exponent_in"].value_counts().to_dict() == {"T": 8, "d": 12, "epsilon": 12}
    for row in fits.itertuples():
        assert row.exponent == pytest.approx(POWERS[row.algorithm][places.index(row.exponent_in)])
        assert row.ci_half_width == 0
        assert row.ci_comparisons == 32
        assert row.share_of_still == pytest.approx(1 / 3)


def test_the_interval_is_that_of_a_line_through_three_points() -> None:
    """The sizes are x = -1, 0, 1 in units of log 10; the ends have weights -1/2 and 1/2."""
    fits = fitted(regrets(error=0.02), 0.95)
    of_rounds = fits[fits["exponent_in"] == "T"]["ci_half_width"]
    expected = student_factor(0.95, 32, 20) * 0.02 * np.sqrt(0.5) / np.log(10)
    np.testing.assert_allclose(of_rounds, expected)


def test_cells_name_the_exponents_of_the_paper_that_they_hold() -> None:
    rows = regrets(error=0.01)
    # Learns as good as nothing with d = 64; negative where T = 100 and epsilon = 1.
    rows.loc[rows["d"] == 64, "still_regret"] = rows["mean_regret"] / 0.9
    rows.loc[(rows["T"] == 100) & (rows["epsilon"] == 1), "mean_regret"] = -1.0
    table = exponent_table({"convex": rows}, Convex.model_construct(), Facts({}, True, 0.95))
    assert table.headers == (TITLES["l2p-sound"], TITLES["dp-ftrl"])
    (section,) = table.sections
    assert (section.title, section.note) == ("linear losses", "on a ball")
    groups = {group.title: dict(group.lines) for group in section.groups}
    assert list(groups) == ["T (1/3, 1/2)", "d (1/3, 1/2)", "ε (-2/3)"]
    assert list(groups["T (1/3, 1/2)"]) == ["d = 4, ε = 4", "d = 64, ε = 4"]
    l2p, tree = groups["T (1/3, 1/2)"]["d = 64, ε = 4"]
    assert l2p == tree == Entry("0.50 ± 0.01", ("in the interval: 1/2", "off: 0%", "still: 90%"))
    l2p, tree = groups["d (1/3, 1/2)"]["T = 1,000, ε = 4"]
    assert l2p.notes == ("in the interval: 1/2", "still: 90%")
    assert tree.notes == ("still: 90%",)
    l2p, tree = groups["ε (-2/3)"]["T = 1,000, d = 4"]
    assert (l2p.notes, tree.notes) == (("in the interval: -2/3",), ())
    assert table.numbers is not None


def test_regrets_of_0_or_less_have_no_exponent() -> None:
    rows = regrets().assign(mean_regret=-1.0)
    table = exponent_table({"convex": rows}, Convex.model_construct(), Facts({}, True, 0.95))
    assert table.numbers is not None
    assert table.numbers.empty
    assert table.sections[0].groups[0].lines[0][1] == (
        Entry("—", ("no mean is above 0 at two sizes",)),
    )


def test_without_two_values_of_a_size_there_is_no_table() -> None:
    one = {"n_rounds": [100], "dimensions": [4], "epsilons": [1]}
    more = [{}, {"n_rounds": [100, 200]}, {"more_dimensions": [5]}, {"epsilons": [1, 2]}]
    shown = []
    for change in more:
        (section,) = STUDY.sections_of(
            Convex.model_validate({**one, **change}), Facts({}, True, 0.95)
        )
        shown.append([table.name for table in section.tables])
    always = ["convex-regret", "convex-stated-rates"]
    assert shown == [always, *[[*always, "convex-exponents"]] * 3]

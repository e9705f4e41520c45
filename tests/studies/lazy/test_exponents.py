"""The table of fitted exponents: fits by hand, intervals, and the powers in them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from dpol.core.intervals import student_factor
from dpol.show.table import TableCell
from dpol.studies.lazy.convex.settings import Convex
from dpol.studies.lazy.convex.study import STUDY as CONVEX_STUDY
from dpol.studies.lazy.exponents import SWEEPS, exponents_table, fitted_exponents
from dpol.studies.lazy.regrets_shown import TITLES
from dpol.studies.lazy.settings import BLOCKS, MATRIX, PRESET, TREE, WEIGHTS, Lazy
from dpol.studies.lazy.study import STUDY
from dpol.studies.study import Facts

FACTS = Facts({}, False, 0.9)
EXPERTS, CONVEX = SWEEPS["lazy"], SWEEPS["convex"]
POWERS = {"l2p-sound": (1 / 3, -2 / 3), PRESET: (0.4, -0.8), TREE: (0.5, -1.0), WEIGHTS: (0.5, 0.0)}
"""Powers of T and of epsilon that the regrets below have."""


def table(relative: float = 0.0) -> pd.DataFrame:
    """Return regrets that are powers of T and epsilon, with `relative` errors."""
    rows = []
    for adversary, T, epsilon, (name, (a, b)) in itertools.product(
        ("stochastic", "lower-bound"), (1000, 100, 30_000), (4.0, 0.1), POWERS.items()
    ):
        mean = 7 * T**a * epsilon**b
        game = {"adversary": adversary, "T": T, "d": 10, "epsilon": epsilon, "algorithm": name}
        rows.append({**game, "mean_regret": mean, "standard_error": relative * mean})
    return pd.DataFrame(rows).assign(replicates=20, uniform_regret=math.inf)


def fitted(regrets: pd.DataFrame) -> pd.DataFrame:
    fits = fitted_exponents(regrets, EXPERTS, 0.9)
    return fits.assign(at=fits["epsilon"].fillna(fits["T"]))


def by_game(exponents: pd.DataFrame) -> pd.DataFrame:
    return exponents.set_index(["adversary", "exponent_in", "at", "algorithm"]).sort_index()


def test_exponents_of_powers_are_those_powers():
    exponents = by_game(fitted(table()))
    # 2 adversaries, 3 algorithms (weights are not private), 2 epsilons and 3 T.
    assert len(exponents) == 2 * 3 * (2 + 3) == exponents["ci_comparisons"].iloc[0]
    for (_, of, _, name), row in exponents.iterrows():
        assert row["exponent"] == pytest.approx(POWERS[name][of == "epsilon"])
        assert (row["ci_half_width"], row["sizes"]) == (0, 3 if of == "T" else 2)
    row = {"exponent_in": "T", "ci_half_width": 1e-9}
    within = [EXPERTS.within(row | {"exponent": power}) for power in (0.4, 0.39)]
    assert within == [["2/5"], []]


def test_intervals_of_leaders_hold_however_their_noise_is_shared_between_epsilons():
    """By hand: half-widths of independent means are a root of squares, others at least a sum."""
    rows = table(0.05)
    rows["standard_error"] *= np.random.default_rng(0).uniform(0.2, 2, len(rows))
    exponents = by_game(fitted(rows))
    factor = student_factor(0.9, len(exponents), 20)
    for (adversary, of, at, name), row in exponents.iterrows():
        other = "epsilon" if of == "T" else "T"
        part = rows[(rows["adversary"] == adversary) & (rows["algorithm"] == name)]
        part = part[part[other] == at]
        x = np.log(part[of].to_numpy())
        weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
        errors = np.abs(weights * (part["standard_error"] / part["mean_regret"]).to_numpy())
        independent = factor * math.hypot(*errors)
        if name == TREE and of == "epsilon":
            assert row["ci_half_width"] >= factor * errors.sum() * (1 - 1e-12) > independent
        else:
            assert row["ci_half_width"] == pytest.approx(independent)


def test_regrets_that_are_no_powers_have_no_exponent():
    rows = table()
    rows.loc[(rows["algorithm"] == PRESET) & (rows["T"] == 100), "mean_regret"] = -1.0
    exponents = fitted(rows)
    of_preset = exponents[exponents["algorithm"] == PRESET]
    assert set(of_preset["exponent_in"]) == {"epsilon"}
    assert set(of_preset["at"]) == {1000, 30_000}
    none = exponents_table({"lazy": rows.assign(mean_regret=0.0)}, Lazy.model_construct(), FACTS)
    assert none.numbers is not None
    assert none.numbers.empty
    assert none.sections[0].groups[0].lines[0][1] == (
        TableCell("—", ("no mean is above 0 at two sizes",)),
    )


def test_cells_have_exponent_interval_and_powers():
    rows = pd.concat([table(0.001), table(0.3).assign(algorithm=BLOCKS).query("T == 100")])
    rows = rows[(rows["algorithm"] != BLOCKS) | (rows["adversary"] == "stochastic")]
    rows = rows.drop_duplicates(["adversary", "T", "epsilon", "algorithm"])
    shown = exponents_table({"lazy": rows}, Lazy.model_construct(), FACTS)
    assert [(section.title, section.note) for section in shown.sections] == [
        ("stochastic losses", ""),
        ("lower-bound losses", ""),
    ]
    group, of_epsilon = shown.sections[0].groups
    assert of_epsilon.title == "ε (-2/3, -4/5, -1)"
    assert group.title == "T (1/3, 2/5, 1/2)"
    assert [label for label, _ in group.lines] == ["d = 10, ε = 0.1", "d = 10, ε = 4"]
    cells = dict(zip(shown.headers, group.lines[0][1], strict=True))
    assert cells[TITLES["l2p-sound"]].text.startswith("0.33 ± ")
    assert cells[TITLES["l2p-sound"]].notes == ("in the interval: 1/3", "off: 0%")
    assert cells[TITLES[PRESET]].notes == ("in the interval: 2/5", "off: 0%")
    assert cells[TITLES[BLOCKS]] == TableCell("—")  # at one T only
    assert TITLES[MATRIX] not in shown.headers


# ---- convex losses ------------------------------------------------------------------------------

SIZES = {"T": [100, 1000, 10_000], "d": [4, 64], "epsilon": [1.0, 4.0]}
PRODUCTS = {"l2p-sound": (0.5, 0.5, -2 / 3), "dp-ftrl": (0.5, 0.25, -0.5)}


def regrets(error: float = 0.0) -> pd.DataFrame:
    """Return regrets that are products of powers, a third of the regret of the centre."""
    rows = []
    for name, (T, d, epsilon) in itertools.product(PRODUCTS, itertools.product(*SIZES.values())):
        a, b, c = PRODUCTS[name]
        mean = 3 * T**a * d**b * epsilon**c
        row = {"loss": "linear", "body": "ball", "T": T, "d": d, "epsilon": epsilon}
        row |= {"algorithm": name, "mean_regret": mean, "standard_error": error * mean}
        rows.append({**row, "still_regret": 3 * mean, "replicates": 20})
    return pd.DataFrame(rows)


def test_cells_name_the_exponents_of_the_paper_that_they_hold():
    rows = regrets(error=0.01)
    # Learns as good as nothing with d = 64; negative where T = 100 and epsilon = 1.
    rows.loc[rows["d"] == 64, "still_regret"] = rows["mean_regret"] / 0.9
    rows.loc[(rows["T"] == 100) & (rows["epsilon"] == 1), "mean_regret"] = -1.0
    table = exponents_table({"convex": rows}, Convex.model_construct(), Facts({}, True, 0.95))
    assert table.headers == (TITLES["l2p-sound"], TITLES["dp-ftrl"])
    (section,) = table.sections
    assert (section.title, section.note) == ("linear losses", "on a ball")
    groups = {group.title: dict(group.lines) for group in section.groups}
    assert list(groups) == ["T (1/3, 1/2)", "d (1/3, 1/2)", "ε (-2/3)"]
    assert list(groups["T (1/3, 1/2)"]) == ["d = 4, ε = 4", "d = 64, ε = 4"]
    l2p, tree = groups["T (1/3, 1/2)"]["d = 64, ε = 4"]
    assert (
        l2p == tree == TableCell("0.50 ± 0.01", ("in the interval: 1/2", "off: 0%", "still: 90%"))
    )
    l2p, tree = groups["d (1/3, 1/2)"]["T = 1,000, ε = 4"]
    assert l2p.notes == ("in the interval: 1/2", "still: 90%")
    assert tree.notes == ("still: 90%",)
    l2p, tree = groups["ε (-2/3)"]["T = 1,000, d = 4"]
    assert (l2p.notes, tree.notes) == (("in the interval: -2/3",), ())
    assert table.numbers is not None


ONE = Lazy(n_rounds=[9], n_experts=[2], epsilons=[1])
ONE_CONVEX = Convex(n_rounds=[9], dimensions=[4], epsilons=[1])


@pytest.mark.parametrize(
    ("study", "one", "change", "asked"),
    [
        (STUDY, ONE, {}, False),
        (STUDY, ONE, {"epsilons": [1, 2]}, True),
        (CONVEX_STUDY, ONE_CONVEX, {}, False),
        (CONVEX_STUDY, ONE_CONVEX, {"n_rounds": [9, 20]}, True),
        (CONVEX_STUDY, ONE_CONVEX, {"more_dimensions": [5]}, True),
        (CONVEX_STUDY, ONE_CONVEX, {"epsilons": [1, 2]}, True),
    ],
)
def test_without_two_values_of_a_size_there_is_no_table(study, one, change, asked):
    sections = study.sections_of(one.model_copy(update=change), FACTS)
    names = [table.name for section in sections for table in section.tables]
    assert (f"{study.name}-exponents" in names) == asked
    assert f"{study.name}-stated-rates" in names

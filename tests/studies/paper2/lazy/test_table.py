"""The tables of measured regret, next to the rates stated in the paper."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from dpol.show.table import Table, TableCell
from dpol.studies.paper2.lazy.exhibits import TITLES, UNIFORM, regret_table
from dpol.studies.paper2.lazy.rates import RATES, rates_table
from dpol.studies.paper2.lazy.study import STUDY
from dpol.studies.study import Facts

Cell = tuple[str, int, int, float, str, float, float, float]
CELLS: list[Cell] = [
    # adversary, T, d, epsilon, algorithm, mean regret, half width, accounted epsilon
    ("stochastic", 1000, 300, 4.0, "multiplicative-weights", 37.2, 0.0, math.nan),
    ("stochastic", 1000, 300, 4.0, "l2p-sound", 1234.4, 12.6, 3.987),
    ("stochastic", 1000, 300, 0.5, "l2p-sound", 4321.6, 98.5001, 0.49951),
    ("stochastic", 1000, 300, 0.5, "l2p-published", 5555.0, 1.0, 0.5),
    ("stochastic", 1000, 300, 0.5, "multiplicative-weights", 37.2, 0.0, math.nan),
    ("stochastic", 20, 300, 0.5, "multiplicative-weights", 3.6, 0.0, math.nan),
    ("stochastic", 20, 300, 0.5, "tree-ftpl-min-noise", -2.4, 2.0, math.nan),
    ("lower-bound", 20, 300, 0.5, "l2p-sound", 9.0, 0.4, 0.123456),
    ("stochastic", 20, 7, 0.5, "l2p-sound", 8.0, 1.0, 0.000123),
]
SOUND, PUBLISHED, TREE, NONE = (
    TITLES[name]
    for name in ("l2p-sound", "l2p-published", "tree-ftpl-min-noise", "multiplicative-weights")
)


def frame(cells: list[Cell] = CELLS) -> pd.DataFrame:
    names = ("T", "d", "epsilon", "algorithm", "mean_regret", "ci_half_width", "accounted_epsilon")
    rows = pd.DataFrame(cells, columns=["adversary", *names])
    return rows.assign(delta=1e-5, replicates=17, confidence=0.9, ci_comparisons=1234)


def build(rows: pd.DataFrame, study: str = "lazy") -> Table:
    table = regret_table({study: rows}, STUDY.settings.model_construct(), Facts({}, False, 0.9))
    assert table.numbers is rows
    return table


def cells_of(table: Table) -> dict[tuple[str, str, str, str, str], TableCell]:
    """Return all cells except dashes."""
    return {
        (section.title, section.note, group.title, label, header): entry
        for section in table.sections
        for group in section.groups
        for label, entries in group.lines
        for header, entry in zip(table.headers, entries, strict=True)
        if entry != TableCell("—")
    }


def test_every_cell_has_its_own_number_and_all_others_a_dash() -> None:
    large, small = (("stochastic losses", "d = 300", T) for T in ("1,000", "20"))
    bound, few = ("lower-bound losses", "d = 300", "20"), ("stochastic losses", "d = 7", "20")
    assert cells_of(build(frame())) == {
        (*large, "ε = 4", NONE): TableCell("37 exact"),
        (*large, "ε = 4", SOUND): TableCell("1,234 ± 13", ("accounted ε = 3.99",)),
        (*large, "ε = 0.5", SOUND): TableCell("4,322 ± 99", ("accounted ε = 0.5",)),
        (*large, "ε = 0.5", PUBLISHED): TableCell("5,555 ± 1", ("accounted ε = 0.5",)),
        (*large, "ε = 0.5", NONE): TableCell("37 exact"),
        (*small, "ε = 0.5", NONE): TableCell("4 exact"),
        (*small, "ε = 0.5", TREE): TableCell("-2 ± 2"),
        (*bound, "ε = 0.5", SOUND): TableCell("9 ± <1", ("accounted ε = 0.123",)),
        (*few, "ε = 0.5", SOUND): TableCell("8 ± 1", ("accounted ε = 0.000123",)),
    }
    # The order of the rows within a section does not matter.
    assert build(frame(CELLS[:7][::-1])) == build(frame(CELLS[:7]))


def test_convex_regrets_have_their_losses_and_body() -> None:
    rows = frame(CELLS[:2]).drop(columns="adversary")
    table = build(rows.assign(loss="linear", body="ball"), "convex")
    key = ("linear losses, ball", "d = 300", "1,000", "ε = 4")
    assert cells_of(table) == {
        (*key, SOUND): TableCell("1,234 ± 13", ("accounted ε = 3.99",)),
        (*key, NONE): TableCell("37 exact"),
    }


def test_uniform_random_has_a_column_without_an_interval() -> None:
    rows = frame(CELLS[:3]).assign(uniform_regret=[920.4, 920.4, 33.0])
    cells = cells_of(build(rows))
    column = {place[3]: entry for place, entry in cells.items() if place[-1] == TITLES[UNIFORM]}
    assert column == {"ε = 4": TableCell("920"), "ε = 0.5": TableCell("33")}


# ---- the rates of the paper ----------------------------------------------------------------------


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
    rows = frame(CELLS).sample(frac=1, random_state=1)
    table = rates_table({name: rows}, STUDY.settings.model_construct(), Facts({}, False, 0.9))
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

"""The tables of measured regrets, next to the rates that the paper states."""

from __future__ import annotations

import math

import pandas as pd

from dpol.show.table import Entry, Table
from dpol.studies.lazy import STUDY
from dpol.studies.lazy.shown import CHANCE, TITLES, regret_table
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


def cells_of(table: Table) -> dict[tuple[str, str, str, str, str], Entry]:
    """All cells but dashes."""
    return {
        (section.title, section.note, group.title, label, header): entry
        for section in table.sections
        for group in section.groups
        for label, entries in group.lines
        for header, entry in zip(table.headers, entries, strict=True)
        if entry != Entry("—")
    }


def test_every_cell_has_its_own_number_and_all_others_a_dash() -> None:
    large, small = (("stochastic losses", "d = 300", T) for T in ("1,000", "20"))
    bound, few = ("lower-bound losses", "d = 300", "20"), ("stochastic losses", "d = 7", "20")
    assert cells_of(build(frame())) == {
        (*large, "ε = 4", NONE): Entry("37 exact"),
        (*large, "ε = 4", SOUND): Entry("1,234 ± 13", ("accounted ε = 3.99",)),
        (*large, "ε = 0.5", SOUND): Entry("4,322 ± 99", ("accounted ε = 0.5",)),
        (*large, "ε = 0.5", PUBLISHED): Entry("5,555 ± 1", ("accounted ε = 0.5",)),
        (*large, "ε = 0.5", NONE): Entry("37 exact"),
        (*small, "ε = 0.5", NONE): Entry("4 exact"),
        (*small, "ε = 0.5", TREE): Entry("-2 ± 2"),
        (*bound, "ε = 0.5", SOUND): Entry("9 ± <1", ("accounted ε = 0.123",)),
        (*few, "ε = 0.5", SOUND): Entry("8 ± 1", ("accounted ε = 0.000123",)),
    }
    # The order of the rows within a section does not matter.
    assert build(frame(CELLS[:7][::-1])) == build(frame(CELLS[:7]))


def test_convex_regrets_have_their_losses_and_body() -> None:
    rows = frame(CELLS[:2]).drop(columns="adversary")
    table = build(rows.assign(loss="linear", body="ball"), "convex")
    key = ("linear losses, ball", "d = 300", "1,000", "ε = 4")
    assert cells_of(table) == {
        (*key, SOUND): Entry("1,234 ± 13", ("accounted ε = 3.99",)),
        (*key, NONE): Entry("37 exact"),
    }


def test_a_random_expert_has_a_column_without_an_interval() -> None:
    rows = frame(CELLS[:3]).assign(chance_regret=[920.4, 920.4, 33.0])
    cells = cells_of(build(rows))
    own = {place[3]: entry for place, entry in cells.items() if place[-1] == TITLES[CHANCE]}
    assert own == {"ε = 4": Entry("920"), "ε = 0.5": Entry("33")}

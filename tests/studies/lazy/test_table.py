"""The tables of measured regrets beside the rates that the paper states."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from dpol.errors import DataError
from dpol.studies.lazy.table import RATES, regret_table
from dpol.tables.text import Entry, TextTable, to_html, to_latex, to_markdown, write_table

COLUMNS = (
    *("T", "d", "epsilon", "delta", "algorithm", "mean_regret", "ci_half_width", "replicates"),
    *("confidence", "ci_comparisons"),
)
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


def frame(kind: str = "adversary", cells: list[Cell] = CELLS) -> pd.DataFrame:
    names = ("T", "d", "epsilon", "algorithm", "mean_regret", "ci_half_width", "accounted_epsilon")
    rows = pd.DataFrame(cells, columns=[kind, *names])
    return rows.assign(delta=1e-5, replicates=17, confidence=0.9, ci_comparisons=1234)


def cells_of(table: TextTable) -> dict[tuple[str, str, str, str, str], Entry]:
    found = {}
    for section in table.sections:
        for group in section.groups:
            for label, entries in group.lines:
                for header, entry in zip(table.headers, entries, strict=True):
                    found[section.title, section.note, group.title, label, header] = entry
    return found


def test_headers_are_the_algorithms_that_were_run() -> None:
    headers = regret_table(frame(), "experts").headers
    assert headers == (
        "L2P, sound accountant †",
        "L2P, published accountant",
        "tree FTPL",
        "no privacy",
    )
    some = frame(cells=CELLS[:2])
    assert regret_table(some, "experts").headers == ("L2P, sound accountant †", "no privacy")


def test_sections_groups_and_lines() -> None:
    """Losses and d as they come, then T and epsilon rising."""
    table = regret_table(frame(), "experts")
    layout = [
        (section.title, section.note, [(g.title, [label for label, _ in g.lines])])
        for section in table.sections
        for g in section.groups
    ]
    assert layout == [
        ("stochastic losses", "d = 300", [("20", ["ε = 0.5"])]),
        ("stochastic losses", "d = 300", [("1,000", ["ε = 0.5", "ε = 4"])]),
        ("lower-bound losses", "d = 300", [("20", ["ε = 0.5"])]),
        ("stochastic losses", "d = 7", [("20", ["ε = 0.5"])]),
    ]
    assert len(table.sections) == 3
    assert table.corner == ("losses", "T", "privacy")


def test_every_cell_has_its_own_number_and_all_others_a_dash() -> None:
    found = cells_of(regret_table(frame(), "experts"))
    large, small = ("stochastic losses", "d = 300", "1,000"), ("stochastic losses", "d = 300", "20")
    sound, published, tree, none = regret_table(frame(), "experts").headers
    expected = {
        (*large, "ε = 4", none): Entry("37 (all equal)"),
        (*large, "ε = 4", sound): Entry("1,234 ± 13", ("accounted ε = 3.99",)),
        (*large, "ε = 0.5", sound): Entry("4,322 ± 99", ("accounted ε = 0.5",)),
        (*large, "ε = 0.5", published): Entry("5,555 ± 1", ("accounted ε = 0.5",)),
        (*large, "ε = 0.5", none): Entry("37 (all equal)"),
        (*small, "ε = 0.5", none): Entry("4 (all equal)"),
        (*small, "ε = 0.5", tree): Entry("-2 ± 2"),
        ("lower-bound losses", "d = 300", "20", "ε = 0.5", sound): Entry(
            "9 ± <1", ("accounted ε = 0.123",)
        ),
        ("stochastic losses", "d = 7", "20", "ε = 0.5", sound): Entry(
            "8 ± 1", ("accounted ε = 0.000123",)
        ),
    }
    assert {key: entry for key, entry in found.items() if entry != Entry("—")} == expected
    assert len(found) == 5 * 4


def test_the_order_of_the_rows_within_a_section_does_not_matter() -> None:
    table = regret_table(frame(cells=CELLS[:7]), "experts")
    assert regret_table(frame(cells=CELLS[:7][::-1]), "experts") == table


def test_a_table_without_accounted_epsilons_has_no_notes() -> None:
    found = cells_of(regret_table(frame().drop(columns="accounted_epsilon"), "experts"))
    assert not any(entry.notes for entry in found.values())


def test_convex_regrets() -> None:
    rows = frame("family", [("linear", *cell[1:]) for cell in CELLS[:3]])
    names = {"l2p-sound": "l2p-theorem-3.12", "multiplicative-weights": "gradient-descent"}
    rows["algorithm"] = rows["algorithm"].replace(names)
    table = regret_table(rows, "convex")
    assert table.headers == ("L2P, Theorem 3.12", "no privacy")
    found = cells_of(table)
    key = ("linear losses", "d = 300", "1,000", "ε = 4")
    assert found[*key, "L2P, Theorem 3.12"] == Entry("1,234 ± 13", ("accounted ε = 3.99",))
    assert found[*key, "no privacy"] == Entry("37 (all equal)")
    assert found[*key[:3], "ε = 0.5", "no privacy"] == Entry("—")


@pytest.mark.parametrize("setting", ["experts", "convex"])
def test_captions_and_footers_say_what_is_measured(setting: str) -> None:
    kind = "adversary" if setting == "experts" else "family"
    table = regret_table(frame(kind), setting)
    assert setting in table.caption
    assert setting in table.name
    text = " ".join(table.footers)
    assert "17 runs" in text
    assert "90% confidence interval (Student's t), Bonferroni-corrected over 1,234" in text
    assert "not other losses" in text
    assert "δ = 1e-05" in text
    for rate in RATES[setting]:
        (footer,) = [footer for footer in table.footers if rate in footer]
        assert "not measured" in footer.lower()
    other = RATES["convex" if setting == "experts" else "experts"]
    assert not any(rate in text for rate in other)


def test_the_rates_of_both_settings_name_what_they_depend_on() -> None:
    assert set(RATES) == {"experts", "convex"}
    for new, prior in RATES.values():
        assert "T^(1/3)" in new
        assert "ε^(2/3)" in new
        assert new != prior


def test_all_formats_show_the_numbers(tmp_path: Path) -> None:
    table = regret_table(frame(), "experts")
    for text in (to_markdown(table), to_latex(table), to_html(table)):
        for number in ("1,234", "4,322", "5,555", "3.99", "0.000123"):
            assert number in text
    path = tmp_path / "table.md"
    write_table(table, path)
    assert path.read_text() == to_markdown(table)


@pytest.mark.parametrize("setting", ["experts", "convex"])
@pytest.mark.parametrize("name", [*COLUMNS, "kind"])
def test_a_missing_column_is_named(setting: str, name: str) -> None:
    kind = "adversary" if setting == "experts" else "family"
    column = kind if name == "kind" else name
    with pytest.raises(DataError, match=f"has no column {column}; delete it and run again"):
        regret_table(frame(kind).drop(columns=column), setting)


@pytest.mark.parametrize("setting", ["experts", "convex"])
def test_an_empty_table_is_refused(setting: str) -> None:
    kind = "adversary" if setting == "experts" else "family"
    with pytest.raises(DataError, match="is empty; delete it and run again"):
        regret_table(frame(kind).head(0), setting)

"""Table of average gains, on hand-made summaries."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pandas as pd

from dpol.privacy.guarantee import MU_OF_STAYS
from dpol.show.rendering import render, to_csv
from dpol.studies.answer.gains import COLUMNS, UNMOVED
from tables_by_hand import (
    FACTS,
    INF,
    build,
    column,
    gains,
    has_footer,
    lines,
    rows,
    run,
    texts,
)

TITLES = ["rw-meta", "tree-ftpl-min-noise", "follow-the-leader", "best linear model"]


def test_the_table_of_a_run_by_hand() -> None:
    """Of a possible gain of 60, 41.25 is 69%; the best linear model differs between levels."""
    table = build()
    assert table.headers == ("rw-meta", "tree-ftpl-min-noise", "follow-the-leader †", TITLES[-1])
    assert texts(table) == [
        ["no privacy (μ = ∞)", "41.25 ± 0.13", "26.00 ± 0.13", "26.50 exact", "43.00 ± 0.13"],
        ["μ = 1", "0.33 ± 0.13", "22.00 ± 0.13", "—", "39.00 ± 0.13"],
    ]
    best = column(table, "best linear model")
    assert [(cell.notes, cell.hint) for cell in best] == [
        (("72%",), "ridge-w8-weak"),
        (("65%",), "ridge-w64-strong"),
    ]
    assert has_footer(table, "mean over 100 runs")
    assert has_footer(table, "Bonferroni-corrected over 12 cells")
    assert has_footer(table, "μ-Gaussian differential privacy of one person in one round")


def test_noise_in_a_row_without_privacy_is_noted() -> None:
    data = rows()
    data[2] |= {"guaranteed_mu": 0.2}  # of the tree
    table = build(data)
    assert column(table, "tree-ftpl-min-noise")[0].notes[-1] == "own noise"
    assert "own noise" not in column(table, "rw-meta")[0].notes
    assert has_footer(table, "“own noise”: noise is added even where no privacy is requested")
    assert not has_footer(build(), "own noise")


def test_a_number_that_noise_does_not_move_is_marked() -> None:
    data = rows()
    data[1] |= {"unmoved": True}  # of RW-Meta
    table = build(data)
    first, second = column(table, "rw-meta")
    assert (UNMOVED in first.notes, UNMOVED in second.notes) == (False, True)
    assert has_footer(table, f"“{UNMOVED}”: all replicates")
    assert not has_footer(build(), f"“{UNMOVED}”")


def test_a_gain_with_correlated_noise_has_the_mu_for_stays() -> None:
    stays = dict(zip(MU_OF_STAYS, (1.0, 1.9, 3.52, 6.234), strict=True))
    paid = run("rw-meta", 1.0, 30.0, noise="capacity-memory", noise_memory="b = 0.8", **stays)
    *others, cell = column(build([*rows(), paid]), "rw-meta")
    assert cell.notes[-1] == "μ for 1, 2, 4, 8 rounds: 1, 1.9, 3.52, 6.24"
    assert not any("rounds" in note for other in others for note in other.notes)


def test_levels_and_algorithms_have_the_order_of_the_config() -> None:
    facts = replace(FACTS, levels={"low": 1.0, "none": INF})
    table = build(facts=facts, algorithms=["follow-the-leader", "rw-meta"])
    assert [label for _, label, _ in lines(table)] == ["μ = 1", "no privacy (μ = ∞)"]
    assert list(table.headers) == ["follow-the-leader †", "rw-meta", "best linear model"]


def test_the_best_of_another_family_has_a_column() -> None:
    data = [row | {"family": "filter" if row["family"] == "ridge" else "x"} for row in rows()]
    table = build(data, envelope="filter")
    cells = column(table, "best filter")
    assert [cell.notes for cell in cells] == [("72%",), ("65%",)]
    assert [cell.hint for cell in cells] == ["ridge-w8-weak", "ridge-w64-strong"]


def test_algorithm_without_privacy_is_a_dash_where_no_level_is_infinite() -> None:
    assert gains(build(facts=replace(FACTS, levels={"low": 1.0})), "follow-the-leader") == ["—"]


def test_csv_is_complete_and_exact() -> None:
    text = pd.read_csv(io.StringIO(to_csv(build().numbers)), dtype=str, keep_default_na=False)
    assert list(text) == COLUMNS
    twice = [name for name in TITLES for _ in range(2 - (name == "follow-the-leader"))]
    assert list(text["column"]) == twice
    meta = text[(text["column"] == "rw-meta") & (text["mu"] == "1.0")].iloc[0]
    assert float(meta["mean_gain"]) == 1 / 3
    facts = ["ci_comparisons", "replicates", "ours"]
    assert list(meta[facts]) == ["12", "100", "False"]
    (plain,) = text[text["column"] == "follow-the-leader"].to_dict("records")
    assert [plain[name] for name in ("mean_gain", "ours", "model", "noise")] == [
        *("26.5", "True", "none", "none")
    ]
    assert list(text["algorithm"][-2:]) == ["ridge-w8-weak", "ridge-w64-strong"]


# --- Several noises ---


def other(noise: str, shift: float, **changes: Any) -> list[dict[str, Any]]:
    """Return the local runs with another noise."""
    return [
        row | {"noise": noise, "mean_gain": row["mean_gain"] + shift} | changes
        for row in rows()
        if row["model"] == "local"
    ]


CAPACITY = other("capacity", 5, ours=True)
LEADER = [row for row in rows() if row["model"] == "none"]
OTHER_NOISES = [
    *CAPACITY,
    *other("b", 20),
    *other("a", 10),
    *other("isotropic-worst-case", 1, guaranteed_mu=0.3, epsilon=1.3),
]


NOISES = ["isotropic", "isotropic-worst-case", "capacity †", "a", "b"]


def test_each_noise_is_a_group_and_algorithms_without_noise_are_in_the_first() -> None:
    """Worst-case noise is added even where no privacy is requested."""
    table = build(OTHER_NOISES + rows())
    assert table.corner == ("stream", "noise", "privacy")
    assert list(dict.fromkeys(group for group, _, _ in lines(table))) == NOISES
    assert gains(table, "follow-the-leader †") == ["26.50", *["—"] * 9]
    assert gains(table, "tree-ftpl-min-noise") == ["26.00", "22.00", *["—"] * 8]
    assert gains(table, "rw-meta")[:4] == ["41.25", "0.33", "42.25", "1.33"]
    assert all(cell.notes[-1] == "own noise" for cell in lines(table)[2][2] if cell.notes)


def test_a_cell_that_was_not_played_is_a_dash() -> None:
    data = [row for row in CAPACITY if row["algorithm"] != "rw-meta"]
    assert gains(build(rows() + data), "rw-meta") == ["41.25", "0.33", "—", "—"]
    data = [row for row in rows() if (row["algorithm"], row["mu"]) != ("rw-meta", 1.0)]
    assert gains(build(data), "rw-meta") == ["41.25", "—"]


def test_without_private_runs_there_is_one_group() -> None:
    table = build(LEADER, algorithms=["follow-the-leader"])
    assert table.corner == ("stream", "privacy")
    assert gains(table, "follow-the-leader †") == ["26.50", "—"]
    assert len(table.headers) == 1  # no column of a family that was not run


def test_whatever_is_ours_bears_a_mark() -> None:
    data = [*rows(), run("mine", 1.0, 3.0, ours=True), *CAPACITY]
    table = build(data, algorithms=["rw-meta", "mine"])
    assert table.headers == ("rw-meta", "mine †", "best linear model")
    assert lines(table)[-1][0] == "capacity †"
    assert has_footer(table, "†: ours, not in the paper: capacity noise, mine.")
    plain = build([row for row in data if not row["ours"]], algorithms=["rw-meta"])
    assert "†" not in render(plain, ".md")
    data = [*CAPACITY, *(row | {"ours": False} for row in LEADER)]
    alone = build(data, algorithms=["rw-meta", "follow-the-leader"])
    assert has_footer(alone, "†: ours, not in the paper: rw-meta, best linear model.")


def test_a_guarantee_weaker_than_its_level_is_noted() -> None:
    weak = build([it | {"guaranteed_mu": 2.0} for it in rows()])
    assert "not at this level: μ = 2" in column(weak, "rw-meta")[1].notes

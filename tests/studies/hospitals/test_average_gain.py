"""The table of average gains, on hand-made summaries."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from dpol.core.errors import DataError
from dpol.data.settings import Stream
from dpol.show.table import TextTable, to_html, to_latex, to_markdown
from dpol.studies.hospitals.average_gain import (
    COLUMNS,
    CSV_COLUMNS,
    as_text,
    build_average_gain,
    render_csv,
)
from dpol.studies.hospitals.layout import Cell
from dpol.studies.hospitals.settings import Report
from tables_by_hand import (
    INF,
    LEVELS,
    STREAM,
    build,
    column,
    gains,
    has_footer,
    notes,
    reported,
    rows,
    run,
)

RENDERERS = (to_markdown, to_latex, to_html)


def test_known_table() -> None:
    table = build()
    titles = ["rw-meta", "tree-ftpl-min-noise", "follow-the-leader", "best linear model"]
    assert [header.column for header in table.headers] == titles
    assert [header.model for header in table.headers] == ["local", "central", "none", "local"]
    assert [(row.level, row.mu) for row in table.rows] == [("none", INF), ("low", 1.0)]
    assert gains(table, "rw-meta") == [41.25, 1 / 3]
    text = to_markdown(as_text(table))
    assert r"| 41.25 ± 0.13 \[paper: 40.14\] |" in text
    assert r"| **New Mexico** (n = 24, T = 148) | no privacy (μ = ∞) |" in text
    assert "follow-the-leader † |" in text


def test_order_is_the_config_s() -> None:
    table = build(levels={"low": 1.0, "none": INF}, algorithms=["follow-the-leader", "rw-meta"])
    assert [row.level for row in table.rows] == ["low", "none"]
    assert [header.column for header in table.headers][:2] == ["follow-the-leader", "rw-meta"]


def test_best_linear_model_is_named_per_cell() -> None:
    table = build()
    assert gains(table, "best linear model") == [43.0, 39.0]
    assert notes(table, "best linear model") == ["ridge-w8-weak", "ridge-w64-strong"]
    assert reported(table)[2::3] == [43.91, 40.69]
    for render in RENDERERS:
        assert "ridge-w64-strong" in render(as_text(table))


def test_best_of_another_family_has_no_reported_number() -> None:
    data = [row | {"family": "kalman" if row["family"] == "ridge" else "x"} for row in rows()]
    table = build(data, envelope="kalman")
    assert notes(table, "best kalman") == ["ridge-w8-weak", "ridge-w64-strong"]
    assert reported(table) == [40.14, 26.48, 36.87, 22.83]


def test_missing_family_has_no_column() -> None:
    table = build([row for row in rows() if row["family"] != "ridge"])
    assert "best linear model" not in [header.column for header in table.headers]


def test_cell_without_run_is_a_dash() -> None:
    table = build()
    assert column(table, "follow-the-leader")[1] == Cell()
    assert "| — |" in to_markdown(as_text(table))
    assert " & --- & " in to_latex(as_text(table))
    assert "<td>—</td>" in to_html(as_text(table))
    assert has_footer(table, "—: not run")
    assert not has_footer(build(levels={"none": INF}), "—: not run")


def test_algorithm_without_privacy_keeps_its_column_where_no_level_is_infinite() -> None:
    assert column(build(levels={"low": 1.0}), "follow-the-leader") == [Cell()]


def test_no_interval_without_half_width() -> None:
    table = build([row | {"ci_half_width": math.nan} for row in rows()])
    assert r"| 41.25 \[paper: 40.14\] |" in to_markdown(as_text(table))


def test_reported_half_width_is_shown() -> None:
    table = build(stream=Stream(groups=["CA"], reported_as="CA"))
    assert r"\[paper: 55.62 ± 0.47\]" in to_markdown(as_text(table))
    assert r"{[}paper: 55.62 $\pm$ 0.47{]}" in to_latex(as_text(table))


@pytest.mark.parametrize(
    "change",
    [
        {"n_rounds": 147},
        {"first_period": pd.Timestamp("2020-08-07")},
        {"last_period": pd.Timestamp("2023-05-28")},
        {"noise": "isotropic-worst-case"},
        {"mu": 2.0},
    ],
    ids=str,
)
def test_reported_numbers_need_every_condition(change: dict[str, Any]) -> None:
    assert reported(build()) == [40.14, 26.48, 43.91, 36.87, 22.83, 40.69]
    kept = [row for row in rows() if row["mu"] == 1.0]
    levels = {"low": 1.0}
    algorithms = ["rw-meta", "tree-ftpl-min-noise"]
    assert reported(build(kept, levels=levels, algorithms=algorithms)) == [36.87, 22.83, 40.69]
    changed = [row | change for row in kept]
    levels = {"low": change.get("mu", 1.0)}
    table = build(changed, levels=levels, algorithms=algorithms)
    assert reported(table) == []
    assert not has_footer(table, "reported by the paper")
    assert "[paper" not in to_html(as_text(table))


@pytest.mark.parametrize("label", [None, "TX"])
def test_reported_numbers_need_a_stream_of_the_paper(label: str | None) -> None:
    stream = Stream(groups=["NM"], title="New Mexico", reported_as=label)
    assert reported(build(stream=stream)) == []


def test_reported_numbers_need_an_algorithm_of_the_paper() -> None:
    data = [row | {"algorithm": "my-" + row["algorithm"], "family": "x"} for row in rows()]
    assert reported(build(data, algorithms=["my-rw-meta"])) == []


def test_other_number_of_experts_is_said() -> None:
    assert not has_footer(build(), "in the paper.")
    table = build([row | {"n_experts": 22} for row in rows()])
    assert has_footer(table, "New Mexico has 22 experts here and 24 in the paper.")


def test_footers() -> None:
    table = build()
    assert has_footer(table, "over 100 runs")
    assert has_footer(table, "95% confidence interval")
    assert has_footer(table, "Bonferroni-corrected over 12 cells")
    assert has_footer(table, "Data: real.")
    assert has_footer(table, "arises): rw-meta, best linear model.")
    assert has_footer(table, "as they are): tree-ftpl-min-noise.")
    assert has_footer(table, "No privacy: follow-the-leader.")
    assert has_footer(table, "not in the paper: follow-the-leader.")
    assert has_footer(table, "privacy of one person in one round; adjacent: one person elsewhere.")
    assert has_footer(
        table,
        "Gaussian noise (local): μ = 1: ε = 4.89; at δ = 1e-06; sensitivity = 0.07 (L2, gain).",
    )
    assert has_footer(
        table,
        "Gaussian noise (central): μ = 1: ε = 4.89; at δ = 1e-06; sensitivity = 0.07 (L2, gain).",
    )
    assert has_footer(table, "the interval of the chosen one holds despite the choice")
    assert has_footer(table, "“Prediction with Expert Advice under Local Differential Privacy”")
    for render in RENDERERS:
        assert "Bonferroni-corrected over 12 cells" in render(as_text(table))


def test_footers_tell_ranges_and_simulated_data() -> None:
    data = [row | {"simulated": True} for row in rows()]
    data[3] |= {"epsilon": 2.25, "guaranteed_mu": 0.5}
    data[4] |= {"replicates": 1}
    table = build(data)
    assert has_footer(table, "(central): μ = 1: ε = 2.25 (guaranteed μ = 0.5); at")
    assert has_footer(table, "over 1 to 100 runs")
    assert has_footer(table, "Data: simulated, not measured.")
    assert has_footer(table, "The paper's numbers are of real data")


def test_no_guarantee_without_noise() -> None:
    assert has_footer(build(levels={"none": INF}), "Guarantee: none")


def test_no_title_of_the_csv_is_a_formula() -> None:
    table = build()
    odd = replace(table, rows=tuple(replace(row, stream_title="=1+1") for row in table.rows))
    assert {line["stream_title"] for line in csv.DictReader(io.StringIO(render_csv(odd)))} == {
        "'=1+1"
    }


def test_csv_is_complete_and_exact() -> None:
    table = build()
    lines = list(csv.DictReader(io.StringIO(render_csv(table))))
    assert tuple(lines[0]) == tuple(CSV_COLUMNS)
    assert len(lines) == len(table.rows) * len(table.headers)
    meta = next(line for line in lines if line["column"] == "rw-meta" and line["mu"] == "1.0")
    assert float(meta["mean_gain"]) == 1 / 3
    assert meta["reported_mean_gain"] == "36.87"
    assert meta["ci_comparisons"] == "12"
    absent = [line for line in lines if not line["algorithm"]]
    assert [line["column"] for line in absent] == ["follow-the-leader"]
    assert absent[0]["mean_gain"] == ""
    assert lines[3]["algorithm"] == "ridge-w8-weak"
    assert lines[3]["best_of"] == "ridge"


@pytest.mark.parametrize("render", RENDERERS)
def test_titles_are_escaped(render: Callable[[TextTable], str]) -> None:
    text = render(as_text(build(stream=Stream(groups=["NM"], title="A & <b> | $x$"))))
    escaped = {
        to_markdown: r"A \& \<b\> \| \$x\$",
        to_latex: r"A \& \textless{}b\textgreater{} \textbar{} \$x\$",
        to_html: "A &amp; &lt;b&gt; | $x$",
    }
    assert escaped[render] in text


@pytest.mark.parametrize("name", COLUMNS)
def test_missing_column_is_named(name: str) -> None:
    with pytest.raises(DataError, match=f"no column {name};"):
        build_average_gain(
            pd.DataFrame(rows()).drop(columns=name),
            streams={"nm": STREAM},
            levels=LEVELS,
            report=Report(algorithms=["rw-meta"]),
        )


def test_wrong_tables_are_refused() -> None:
    frame = pd.DataFrame(rows())
    report = Report(algorithms=["rw-meta"])
    with pytest.raises(DataError, match="is empty"):
        build_average_gain(frame[:0], streams={"nm": STREAM}, levels=LEVELS, report=report)
    with pytest.raises(DataError, match="no runs of stream tx"):
        build_average_gain(frame, streams={"tx": STREAM}, levels=LEVELS, report=report)
    with pytest.raises(DataError, match="no runs of algorithm rw-mata"):
        build(algorithms=["rw-mata"])
    with pytest.raises(DataError, match="no runs of stream nm that the report shows"):
        build(levels={"odd": 7.0})
    with pytest.raises(DataError, match=r"two rows of .*rw-meta"):
        build([*rows(), run("rw-meta", 1.0, 3.0)])
    with pytest.raises(DataError, match=r"no mean_gain for .*rw-meta"):
        build([*rows(), run("rw-meta", 0.5, math.nan)])
    with pytest.raises(DataError, match=r"another ci_comparisons for .*rw-meta"):
        build([*rows(), run("rw-meta", 0.5, 1.0, ci_comparisons=13)])
    with pytest.raises(DataError, match="at least one"):
        build(levels={})


def test_input_is_left_alone() -> None:
    frame = pd.DataFrame(rows())
    before = frame.copy(deep=True)
    report = Report(algorithms=["rw-meta"])
    build_average_gain(frame, streams={"nm": STREAM}, levels=LEVELS, report=report)
    pd.testing.assert_frame_equal(frame, before)

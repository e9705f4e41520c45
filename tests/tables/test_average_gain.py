"""The table of average gains, on hand-made summaries."""

from __future__ import annotations

import csv
import io
import math
from html.parser import HTMLParser
from typing import Any

import pandas as pd
import pytest

from dpol.config import Report, Stream
from dpol.errors import DataError
from dpol.tables import escape_latex, escape_markdown
from dpol.tables.average_gain import (
    BEST_LINEAR,
    COLUMNS,
    CSV_COLUMNS,
    AverageGain,
    Cell,
    build_average_gain,
    load_reported,
    render_csv,
    render_html,
    render_latex,
    render_markdown,
)

INF = math.inf
LEVELS = {"none": INF, "low": 1.0}
STREAM = Stream(groups=["NM"], title="New Mexico", reported_as="NM")
RENDERERS = (render_markdown, render_latex, render_html)


def run(algorithm: str, mu: float, gain: float, **changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "stream": "nm",
        "n_experts": 24,
        "n_rounds": 148,
        "first_period": pd.Timestamp("2020-08-09"),
        "last_period": pd.Timestamp("2023-06-04"),
        "algorithm": algorithm,
        "family": algorithm,
        "calibration": "isotropic",
        "mu": mu,
        "replicates": 100,
        "mean_gain": gain,
        "ci_half_width": 0.126,
        "ci_comparisons": 12,
        "model": "local",
        "ours": False,
        "guaranteed_mu": mu,
        "epsilon": INF if mu == INF else 4.89,
        "delta": 1e-6,
        "mechanism": "Gaussian noise",
        "adjacency": "one person elsewhere",
        "unit": "one person in one round",
        "simulated": False,
    }
    return row | changes


def rows() -> list[dict[str, Any]]:
    leader = {"calibration": "none", "model": "none", "ours": True, "ci_half_width": 0.0}
    return [
        run("rw-meta", INF, 41.25),
        run("rw-meta", 1.0, 1 / 3),
        run("tree-ftpl-min-noise", INF, 26.0, model="central"),
        run("tree-ftpl-min-noise", 1.0, 22.0, model="central"),
        run("follow-the-leader", INF, 26.5, **leader),
        run("ridge-w8-weak", INF, 43.0, family="ridge"),
        run("ridge-w8-weak", 1.0, 38.0, family="ridge"),
        run("ridge-w64-strong", INF, 42.0, family="ridge"),
        run("ridge-w64-strong", 1.0, 39.0, family="ridge"),
    ]


def build(
    data: list[dict[str, Any]] | None = None,
    *,
    stream: Stream = STREAM,
    levels: dict[str, float] = LEVELS,
    **report: Any,
) -> AverageGain:
    algorithms = ["rw-meta", "tree-ftpl-min-noise", "follow-the-leader"]
    return build_average_gain(
        pd.DataFrame(rows() if data is None else data),
        streams={"nm": stream},
        levels=levels,
        report=Report(**{"algorithms": algorithms} | report),
    )


def column(table: AverageGain, title: str) -> list[Cell]:
    index = [header.column for header in table.headers].index(title)
    return [row.cells[index] for row in table.rows]


def reported(table: AverageGain) -> list[float]:
    cells = [cell for row in table.rows for cell in row.cells]
    return [cell.reported_mean_gain for cell in cells if cell.reported_mean_gain is not None]


def has_footer(table: AverageGain, text: str) -> bool:
    return any(text in footer for footer in table.footers)


def test_known_table() -> None:
    table = build()
    titles = ["rw-meta", "tree-ftpl-min-noise", "follow-the-leader", "best linear model"]
    assert [header.column for header in table.headers] == titles
    assert [header.model for header in table.headers] == ["local", "central", "none", "local"]
    assert [(row.level, row.mu) for row in table.rows] == [("none", INF), ("low", 1.0)]
    assert [cell.mean_gain for cell in column(table, "rw-meta")] == [41.25, 1 / 3]
    text = render_markdown(table)
    assert r"| 41.25 ± 0.13 \[paper: 40.14\] |" in text
    assert r"| **New Mexico** (n = 24, T = 148) | no privacy (µ = ∞) |" in text
    assert "follow-the-leader † |" in text


def test_order_is_the_config_s() -> None:
    table = build(levels={"low": 1.0, "none": INF}, algorithms=["follow-the-leader", "rw-meta"])
    assert [row.level for row in table.rows] == ["low", "none"]
    assert [header.column for header in table.headers][:2] == ["follow-the-leader", "rw-meta"]


def test_best_linear_model_is_named_per_cell() -> None:
    best = column(build(), "best linear model")
    assert [(cell.mean_gain, cell.note) for cell in best] == [
        (43.0, "ridge-w8-weak"),
        (39.0, "ridge-w64-strong"),
    ]
    assert [cell.reported_mean_gain for cell in best] == [43.91, 40.69]
    for render in RENDERERS:
        assert "ridge-w64-strong" in render(build())


def test_best_of_another_family_has_no_reported_number() -> None:
    data = [row | {"family": "kalman" if row["family"] == "ridge" else "x"} for row in rows()]
    table = build(data, envelope="kalman")
    assert [cell.note for cell in column(table, "best kalman")] == [
        "ridge-w8-weak",
        "ridge-w64-strong",
    ]
    assert all(cell.reported_mean_gain is None for cell in column(table, "best kalman"))


def test_missing_family_has_no_column() -> None:
    table = build([row for row in rows() if row["family"] != "ridge"])
    assert "best linear model" not in [header.column for header in table.headers]


def test_cell_without_run_is_a_dash() -> None:
    table = build()
    assert column(table, "follow-the-leader")[1] == Cell()
    assert "| — |" in render_markdown(table)
    assert " & --- & " in render_latex(table)
    assert "<td>—</td>" in render_html(table)
    assert has_footer(table, "—: not run")
    assert not has_footer(build(levels={"none": INF}), "—: not run")


def test_algorithm_without_privacy_keeps_its_column_where_no_level_is_infinite() -> None:
    assert column(build(levels={"low": 1.0}), "follow-the-leader") == [Cell()]


def test_no_interval_without_half_width() -> None:
    table = build([row | {"ci_half_width": math.nan} for row in rows()])
    assert r"| 41.25 \[paper: 40.14\] |" in render_markdown(table)


def test_calibrations_have_columns_of_their_own() -> None:
    more = [
        row | {"calibration": "capacity", "mean_gain": row["mean_gain"] + 5}
        for row in rows()
        if row["model"] == "local"
    ]
    table = build(rows() + more)
    assert [header.column for header in table.headers] == [
        "rw-meta (isotropic)",
        "rw-meta (capacity)",
        "tree-ftpl-min-noise (isotropic)",
        "follow-the-leader",
        "best linear model (isotropic)",
        "best linear model (capacity)",
    ]
    assert [cell.mean_gain for cell in column(table, "rw-meta (capacity)")] == [46.25, 1 / 3 + 5]
    assert has_footer(
        table,
        "not in the paper: rw-meta (capacity), follow-the-leader, best linear model (capacity).",
    )
    assert reported(table) == reported(build())


def test_reported_numbers_are_those_of_the_paper() -> None:
    numbers = load_reported()
    assert len(numbers) == 48
    assert numbers["CA", "rw-meta", 0.25] == (33.34, 1.30)
    assert numbers["NM", "tree-ftpl-min-regret", INF] == (13.38, None)
    assert numbers["PA", BEST_LINEAR, 0.5] == (38.06, None)
    assert sum(half is not None for _, half in numbers.values()) == 9


def test_reported_half_width_is_shown() -> None:
    table = build(stream=Stream(groups=["CA"], reported_as="CA"))
    assert r"\[paper: 55.62 ± 0.47\]" in render_markdown(table)
    assert r"{[}paper: 55.62 $\pm$ 0.47{]}" in render_latex(table)


@pytest.mark.parametrize(
    "change",
    [
        {"n_rounds": 147},
        {"first_period": pd.Timestamp("2020-08-07")},
        {"last_period": pd.Timestamp("2023-05-28")},
        {"calibration": "isotropic-worst-case"},
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
    assert "[paper" not in render_html(table)


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
    assert has_footer(table, "over the columns, at δ = 1e-06: µ = 1: ε = 4.89.")
    assert has_footer(table, "adjacent: one person elsewhere; mechanism: Gaussian noise;")
    assert has_footer(table, "“Prediction with Expert Advice under Local Differential Privacy”")
    for render in RENDERERS:
        assert "Bonferroni-corrected over 12 cells" in render(table)


def test_footers_tell_ranges_and_simulated_data() -> None:
    data = [row | {"simulated": True} for row in rows()]
    data[1] |= {"epsilon": 2.25}
    data[4] |= {"replicates": 1}
    table = build(data)
    assert has_footer(table, "µ = 1: ε = 2.25 to 4.89.")
    assert has_footer(table, "over 1 to 100 runs")
    assert has_footer(table, "Data: simulated, not measured.")
    assert has_footer(table, "The paper's numbers are of real data")


def test_noise_at_infinite_mu_is_no_guarantee_of_the_other_columns() -> None:
    data = rows()
    noisy = {"calibration": "isotropic-worst-case", "guaranteed_mu": 0.3, "epsilon": 1.3}
    table = build([*data, data[0] | noisy])
    assert has_footer(table, "at δ = 1e-06: µ = ∞: ε = 1.3 to ∞, µ = 1: ε = 4.89.")


def test_no_guarantee_without_noise() -> None:
    assert has_footer(build(levels={"none": INF}), "Guarantee: none")


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


NASTY = "A & B_<c>% | [d] {e} $x^2$ #1 ~ \\ `f` *g*"


def test_markdown_escapes() -> None:
    text = render_markdown(build(stream=Stream(groups=["NM"], title=NASTY)))
    line = next(line for line in text.splitlines() if line.startswith("| **"))
    assert line.startswith(rf"| **{escape_markdown(NASTY)}** (n = 24")
    assert r"A \& B\_\<c\>% \| \[d\]" in line
    grid = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace(r"\|", "").count("|") for line in grid} == {7}


def test_latex_escapes() -> None:
    text = render_latex(build(stream=Stream(groups=["NM"], title=NASTY)))
    assert r"A \& B\_\textless{}c\textgreater{}\% \textbar{} {[}d{]} \{e\}" in text
    assert r"\$x\textasciicircum{}2\$ \#1 \textasciitilde{} \textbackslash{}" in text
    assert escape_latex("µ = ∞") == r"$\mu$ = $\infty$"
    assert text.isascii()
    rules = [r"\toprule", r"\midrule", r"\bottomrule", r"\begin{tabular}", r"\end{table}"]
    assert all(rule in text for rule in rules)
    body = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert {line.replace(r"\&", "").count("&") for line in body} == {5}
    plain = text.replace(r"\{", "").replace(r"\}", "")
    assert plain.count("{") == plain.count("}")


class Outline(HTMLParser):
    """Start tags with their attributes, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_escapes_and_is_accessible() -> None:
    page = render_html(build(stream=Stream(groups=["NM"], title=NASTY + '"<script>')))
    assert "<script" not in page
    assert "A &amp; B_&lt;c&gt;%" in page
    outline = Outline(page)
    assert NASTY in outline.text
    scopes = [attributes.get("scope") for tag, attributes in outline.tags if tag == "th"]
    assert scopes == ["col"] * 6 + ["rowgroup", "row", "row"]
    tags = [tag for tag, _ in outline.tags]
    assert tags.count("td") == 8
    assert tags.count("caption") == 1
    assert "prefers-color-scheme: dark" in page
    assert not any({"src", "href"} & set(attributes) for _, attributes in outline.tags)


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

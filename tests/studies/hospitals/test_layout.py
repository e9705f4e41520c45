"""Rows, columns and marks of the table of average gains, with several noises."""

from __future__ import annotations

import csv
import io
from typing import Any

import pandas as pd

from dpol.data.settings import Stream
from dpol.show.table import to_html, to_latex, to_markdown
from dpol.studies.hospitals.average_gain import (
    as_text,
    build_average_gain,
    render_csv,
)
from dpol.studies.hospitals.settings import Report
from tables_by_hand import INF, LEVELS, STREAM, build, gains, has_footer, reported, rows, run


def test_one_noise_has_no_column_for_noise() -> None:
    table = build()
    assert {row.noise for row in table.rows} == {"isotropic"}
    assert to_markdown(as_text(table)).splitlines()[2].startswith("| stream | privacy | rw-meta |")
    assert not has_footer(table, "Empty: ")


def other(noise: str, shift: float, **changes: Any) -> list[dict[str, Any]]:
    """The local runs with another noise."""
    return [
        row | {"noise": noise, "mean_gain": row["mean_gain"] + shift} | changes
        for row in rows()
        if row["model"] == "local"
    ]


def all_noises() -> list[dict[str, Any]]:
    stays = {"guaranteed_mu": 0.3, "epsilon": 1.3}
    return [
        *other("capacity", 5, ours=True),
        *other("b", 20),
        *other("a", 10),
        *other("isotropic-worst-case", 1, **stays),
        *rows(),
    ]


def test_rows_are_grouped_by_noise() -> None:
    table = build(all_noises(), levels={"low": 1.0, "none": INF})
    order = ["isotropic", "isotropic-worst-case", "capacity", "a", "b"]
    assert table.noises == order
    expected = [(name, level) for name in order for level in ("low", "none")]
    assert [(row.noise, row.level) for row in table.rows] == expected
    titles = ["rw-meta", "tree-ftpl-min-noise", "follow-the-leader", "best linear model"]
    assert [header.column for header in table.headers] == titles
    shifts = [0, 1, 5, 10, 20]
    assert gains(table, "rw-meta") == [x + shift for shift in shifts for x in (1 / 3, 41.25)]
    assert gains(table, "best linear model") == [x + n for n in shifts for x in (39.0, 43.0)]
    assert reported(table) == [36.87, 22.83, 40.69, 40.14, 26.48, 43.91]


def test_labels_of_noises() -> None:
    table = build(all_noises())
    text = to_markdown(as_text(table))
    lines = [line.split(" | ") for line in text.splitlines() if line[:1] == "|"]
    assert lines[0][:3] == ["| stream", "noise", "privacy"]
    labels = [[part.lstrip("| ") for part in line[:3]] for line in lines[2:8]]
    assert labels == [
        ["**New Mexico** (n = 24, T = 148)", "isotropic", "no privacy (μ = ∞)"],
        ["", "", "μ = 1"],
        ["", "isotropic-worst-case", "μ = ∞"],  # its noise stays
        ["", "", "μ = 1"],
        ["", "capacity †", "no privacy (μ = ∞)"],
        ["", "", "μ = 1"],
    ]


def test_column_without_local_noise_is_shown_once() -> None:
    table = build(all_noises())
    assert gains(table, "tree-ftpl-min-noise") == [26.0, 22.0, *[""] * 8]
    assert gains(table, "follow-the-leader") == [26.5, None, *[""] * 8]
    text = as_text(table)
    assert r"| μ = ∞ | 42.25 ± 0.13 |  |  | 44.00 ± 0.13 ridge-w8-weak |" in to_markdown(text)
    assert r" & 42.25 $\pm$ 0.13 &  &  & 44.00 $\pm$ 0.13 \\" in to_latex(text)
    assert to_html(text).count("<td></td>") == 16
    assert has_footer(table, "Empty: an algorithm without local noise is shown once")


def test_column_without_local_noise_is_shown_in_the_first_rows_there_are() -> None:
    leader = [row for row in rows() if row["model"] == "none"]
    table = build([*all_noises()[:-9], *leader], algorithms=["rw-meta", "follow-the-leader"])
    assert table.noises[0] == "isotropic-worst-case"
    assert gains(table, "follow-the-leader") == [26.5, None, *[""] * 6]


def test_central_algorithm_is_shown_where_it_was_run() -> None:
    data = all_noises()
    table = build([row | {"noise": "a"} if row["model"] == "central" else row for row in data])
    assert gains(table, "tree-ftpl-min-noise") == [*[""] * 6, 26.0, 22.0, "", ""]


def test_local_algorithm_that_was_not_run_with_a_noise_is_a_dash() -> None:
    data = [row for row in other("capacity", 5) if row["algorithm"] != "rw-meta"]
    assert gains(build(rows() + data), "rw-meta") == [41.25, 1 / 3, None, None]


def test_without_any_private_run_there_is_one_group() -> None:
    data = [row for row in rows() if row["model"] == "none"]
    table = build(data, algorithms=["follow-the-leader"])
    assert table.noises == ["none"]
    assert gains(table, "follow-the-leader") == [26.5, None]


def test_marks_of_what_is_ours() -> None:
    data = [*rows(), run("mine", 1.0, 3.0, ours=True), *other("capacity", 5, ours=True)]
    algorithms = ["rw-meta", "mine"]
    table = build(data, algorithms=algorithms)
    assert [header.column for header in table.headers if header.marked] == ["mine"]
    assert has_footer(table, "†: ours, not in the paper: capacity noise, mine.")
    text = to_markdown(as_text(table))
    assert "| rw-meta | mine † | best linear model |" in text
    assert "|  | capacity † | no privacy" in text
    plain = build([row for row in data if not row["ours"]], algorithms=["rw-meta"])
    assert "†" not in to_markdown(as_text(plain))


def test_columns_are_marked_where_all_noise_is_ours() -> None:
    leader = [row | {"ours": False} for row in rows() if row["model"] == "none"]
    data = [*other("capacity", 5, ours=True), *leader]
    table = build(data, algorithms=["rw-meta", "follow-the-leader"])
    assert has_footer(table, "†: ours, not in the paper: rw-meta, best linear model.")


def test_streams_have_the_same_groups() -> None:
    data = all_noises()
    data += [row | {"stream": "pa"} for row in data]
    table = build_average_gain(
        pd.DataFrame(data),
        streams={"pa": Stream(groups=["PA"]), "nm": STREAM},
        levels=LEVELS,
        report=Report(algorithms=["rw-meta"]),
    )
    assert [row.stream for row in table.rows] == ["pa"] * 10 + ["nm"] * 10
    lines = to_markdown(as_text(table)).splitlines()
    assert sum(" | isotropic | " in line for line in lines) == 2


def test_csv_has_a_line_per_cell_that_is_not_empty() -> None:
    table = build(all_noises())
    lines = list(csv.DictReader(io.StringIO(render_csv(table))))
    assert len(lines) == 5 * 2 * 2 + 2 + 2
    found = {(line["column"], line["noise"]) for line in lines}
    assert {name for title, name in found if title == "rw-meta"} == set(table.noises)
    assert {name for title, name in found if title == "tree-ftpl-min-noise"} == {"isotropic"}
    assert {name for title, name in found if title == "follow-the-leader"} == {"none"}
    ours = {(line["column"], line["noise"]) for line in lines if line["ours"] == "True"}
    best = ("best linear model", "capacity")
    assert ours == {("follow-the-leader", "none"), ("rw-meta", "capacity"), best}

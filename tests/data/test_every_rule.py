"""In a table with all kinds of dirt, each rule counts what it touched, and all else is kept."""

from __future__ import annotations

import yaml

from data.drawn import (
    HIDDEN,
    SUMS,
    Row,
    clean,
    counts,
    dataset,
    line,
    of_period,
    rows,
    sources,
    streams,
    told,
    week,
)
from dpol.data.cleaning import RULES
from pipeline import ROOT

PAPERS = yaml.safe_load((ROOT / "config/paper.yaml").read_text())["dataset"]["cleaning"]
NINE = "9 9 9 9 9 9 9 9"
PLAYS = {
    "a": ("5:35:7 . -1 *:20:7 _ *:*:7 *:20:. 30", NINE),
    "b": ("0 0 0 0 _ 0 0 0", "9 . -2 *:*:7 9 *:21:7 *:21:. 0"),
    "closed": ("4 4 4 4 _ 4 _ _", NINE),
    "h": ("7 7 7 7 _ 7 7 7", NINE),
    "late": ("_ _ _ _ _ _ 5 5", NINE),
    "moves": ("1 1 1 1 _ 1 1 1", NINE),
}
STAYS_OUT = {
    "bedless": ("1 1 1 1 _ 1 1 1", "0 . -2 * 9 0 . -2"),
    "few": ("1 1 1 1 _ 1 1 1", NINE),
    "idle": ("3 3 3 3 _ 3 3 3", "0 -1.5 9 9 9 9 9 9"),
}
MISTAKES = (
    {"week": "2023-09-04Tgarbage"},
    {"week": "9999-12-31"},
    {"week": "２０２１-02-05"},
    {"week": ""},
    {"hospital": ""},
    {"patients": "16,8"},
    {"beds": "many"},
)
"""In a group that no stream has."""
TOUCHED = {
    **{"exact_duplicates": 1, "merged_rows": 2, "moved_entities": 1, "renamed_entities": 1},
    **{"suppressed_cases": 1, "missing_cases": 2, "negative_cases": 1, "absent_rows": 5 + 2},
    **{"missing_counts": 1, "negative_counts": 1, "summed_counts": 1, "hidden_sum_counts": 1},
    **{"uncovered_counts": 1, "carried_counts": 2 + 2, "zero_counts": 5},
    **{"missing_capacities": 1, "negative_capacities": 1, "summed_capacities": 1},
    **{"hidden_sum_capacities": 1, "uncovered_capacities": 1, "zero_capacities": 1},
    **{"carried_capacities": 5 + 2, "backfilled_capacities": 5, "clipped_densities": 1},
}
"""By the rule; the second number is that of weeks in which an entity has no row."""


def table() -> list[Row]:
    """Return the rows: a wrong one first, repeated ones last."""
    of = told(rows(PLAYS | STAYS_OUT))
    for cells in of:
        name, late = cells["hospital"], cells["week"] >= week(5)
        cells |= {"adult": "0" if name == "few" else "60", "child": "0" if name == "few" else "1"}
        cells["title"] = f"{'New' if late else 'Old'} <h>" if name == "h" else name
        if name == "moves" and late:
            cells["state"] = "B"
        if name in "bh":
            cells["week"] += "T00:00:00.000"
    first, second, third, fourth, fifth, *_ = (it for it in of if it["hospital"] == "h")
    first["adult"], second["child"], third["adult"], fourth["child"] = HIDDEN, "", "-1", "NA"
    wrong = fifth | {"patients": "7.7", "beds": "77"}
    early = fifth | {"week": "2020-12-27", "patients": "n/a"}
    elsewhere = [fifth | {"state": "C", "hospital": "z"} | change for change in MISTAKES]
    other = [fifth | it | {"state": "D"} for t in (0, 1) for it in of_period(week(t), "xy")]
    again = [dict(fifth), fourth | {"beds": " 9.00"}]
    return [wrong, early, *of[::-1], *elsewhere, *other, *again]


def test_each_rule_counts_what_it_touched_and_all_else_is_as_published() -> None:
    columns = {**SUMS, "name": "title", "cases": ["adult", "child"]}
    rules = dataset(columns, {"first": week(0)}, **PAPERS | {"max_zeroed": 0.2})
    of = table()
    panel = clean(of, rules, streams(S=["A", "B"], T=["D"]))
    assert counts(panel) == TOUCHED
    assert RULES.keys() - TOUCHED == {
        *("suppressed_counts", "suppressed_capacities", "idle_counts"),
        *("above_counts", "cut_counts"),
    }, "rules of other configs: averages have sums here, and idle hospitals are dropped"
    assert counts(panel, 1) == {}
    report = panel.reports[0]
    assert panel.joined["rows_read"] == len(of)
    assert panel.joined["rows_outside"] == len(MISTAKES) + 1
    assert {it["entity"]: it["reason"] for it in report.dropped} == {
        "bedless": "never reports a capacity above 0",
        "few": "0 cases in all, fewer than 100",
        "idle": "a count above 0 beside a capacity of 0 or less in 2 periods",
    }
    assert report.selection == "counts"
    assert f"periods missing: 1 between {week(3)} and {week(5)}" in report.checks
    assert line(panel, "a", "count") == [5, 5, 5, 20 / 7, 2 / 7, 2, 30]
    assert line(panel, "a", "density")[-1] == 1
    assert sources(panel, "a", "count_source") == "rccsssr"
    assert line(panel, "b", "capacity") == [9, 9, 9, 9, 3, 3, 3]
    assert sources(panel, "b", "capacity_source") == "rcccscc"
    assert line(panel, "closed", "count") == [4] * 7
    assert line(panel, "late", "count") == [0] * 5 + [5] * 2
    assert (line(panel, "h", "count"), line(panel, "h", "capacity")) == ([7] * 7, [9] * 7)
    assert line(panel, "h", "name") == ["New <h>"] * 7
    assert line(panel, "moves", "group") == ["B"] * 7

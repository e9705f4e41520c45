"""What a table means is asked with evidence, and a table that means what it shows is not asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import dpol
from data.drawn import clean, dataset, refused, row, table, week
from dpol.cli import main
from dpol.core.errors import DataError
from dpol.data.cleaning import clean_panel
from dpol.data.second_look import DoubtError, find_subtotal, find_total
from dpol.data.settings import Stream
from owners_tables import counts_only, told, wards, with_whole

FALSE_ALARMS = 0.003
"""The stated rate of false alarms of a test on random tables without what it looks for."""


# ---- the tests of numbers alone -----------------------------------------------------------------

SIZES = st.tuples(st.integers(3, 40), st.integers(12, 80), st.integers(0, 2**32 - 1))
KINDS = st.sampled_from(["small", "counts", "skewed", "averages"])


def drawn(n: int, periods: int, seed: int, kind: str) -> tuple[np.ndarray, float]:
    """Return (periods, n) numbers of places of unlike sizes, which rise and fall together."""
    rng = np.random.default_rng(seed)
    level = {"small": 3, "counts": 60, "skewed": 40, "averages": 25}[kind]
    sizes = level * rng.lognormal(0, 2 if kind == "skewed" else 0.7, n)
    wave = np.exp(0.4 * np.sin(np.arange(periods) / 6 + rng.uniform(0, 6)))[:, None]
    numbers = rng.poisson(sizes * wave * rng.lognormal(0, 0.2, (periods, n))).astype(float)
    return (numbers / 7).round(
        1
    ) if kind == "averages" else numbers, 0.1 if kind == "averages" else 1


@given(size=SIZES, kind=KINDS, place=st.integers(0, 100), levels=st.integers(1, 3))
def test_a_planted_total_is_found(size, kind, place, levels) -> None:
    """A nation beside its places, or beside its regions and places."""
    numbers, unit = drawn(*size, kind)
    rng, place = np.random.default_rng(size[-1]), place % (size[0] + 1)
    regions = rng.integers(0, levels, size[0])
    sums = [numbers[:, regions == k].sum(axis=1) for k in range(levels)] if levels > 1 else []
    parts = np.column_stack([numbers, *sums])
    whole = np.insert(parts, place, numbers.sum(axis=1), axis=1)
    found = find_total(whole, whole, unit)
    assert found is not None
    column, holds, _ = found
    assert np.array_equal(whole[:, column], whole[:, place])
    assert holds.all()


@given(size=SIZES, kind=st.sampled_from(["counts", "skewed"]), hidden=st.integers(2, 11))
def test_a_planted_total_of_hidden_numbers_is_found_where_they_are_a_small_part(
    size, kind, hidden
) -> None:
    numbers, unit = drawn(*size, kind)
    total = numbers.sum(axis=1, keepdims=True)
    small = (numbers > 0) & (numbers < hidden)
    least, most = np.where(small, 0, numbers), np.where(small, hidden - 1, numbers)
    found = find_total(np.hstack([least, total]), np.hstack([most, total]), unit)
    narrow = np.median((most - least).sum(axis=1)) <= np.median(total) / 3
    assert found is not None if narrow else True
    if found:
        assert found[0] == size[0]


@pytest.mark.parametrize("kind", ["small", "counts", "skewed", "averages"])
@pytest.mark.parametrize("hidden", [0, 5])
def test_random_tables_give_no_false_alarm(kind: str, hidden: int) -> None:
    tables, alarms = 400, 0
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        numbers, unit = drawn(int(rng.integers(3, 40)), int(rng.integers(3, 80)), seed, kind)
        small = (numbers > 0) & (numbers < hidden)
        least = np.where(small, 0, numbers)
        alarms += find_total(least, np.where(small, hidden - 1, numbers), unit) is not None
    assert alarms <= FALSE_ALARMS * tables


def test_the_evidence_of_a_subtotal_must_exceed_that_of_any_choice_of_parts() -> None:
    numbers, _ = drawn(12, 60, 1, "counts")
    region = numbers[:, [1, 4, 7]].sum(axis=1)
    found = find_subtotal(np.column_stack([numbers, region]), 12, 1.0)
    assert found is not None
    assert found.tolist() == [True] * 60
    assert find_subtotal(np.column_stack([numbers, region + 1]), 12, 1.0) is None
    assert find_subtotal(np.column_stack([numbers, region])[:3], 12, 1.0) is None


# ---- tables by the command and by the library ---------------------------------------------------


def region(t: pd.DataFrame) -> pd.DataFrame:
    north = t[t["place"].isin(t["place"].unique()[:4])]
    whole = north.groupby("week", as_index=False)[["patients", "beds"]].sum()
    return pd.concat([t, whole.assign(place="North")], ignore_index=True)


def one_typing_error() -> pd.DataFrame:
    t = wards(6, 30, 41)
    t.loc[37, "patients"] = 5000
    return counts_only(t)


def another_weekday() -> pd.DataFrame:
    t = wards()
    t.loc[t["place"] == "Ward 05", "week"] += pd.Timedelta(days=1)
    return t


def blank_weeks() -> pd.DataFrame:
    t = wards().astype({"patients": object})
    t.loc[t["week"].isin(sorted(t["week"].unique())[20:23]), "patients"] = ""
    return t


def to_date() -> pd.DataFrame:
    t = wards()
    t["patients"] = t.groupby("place")["patients"].cumsum()
    return counts_only(t)


def yearly() -> pd.DataFrame:
    """Return totals to date of a year, over three years."""
    t = wards(periods=150)
    t["patients"] = t.groupby(["place", t["week"].dt.year])["patients"].cumsum()
    return counts_only(t)


def percentages() -> pd.DataFrame:
    t = wards()
    return t.assign(pct=(100 * t["patients"] / t["beds"]).round(1))[["place", "week", "pct"]]


def two_measures() -> pd.DataFrame:
    t = wards(5, 30)[["place", "week", "patients", "beds"]]
    return t.melt(["place", "week"], var_name="measure", value_name="value")


@pytest.mark.parametrize(
    ("made", "options", "asked", "answer", "uniform", "best"),
    [
        (lambda: counts_only(with_whole(wards(), "ENGLAND")), "--at-most 2000", "", "",
         1.3372, 2.7290),
        (lambda: region(wards()), "--count patients --capacity beds",
         "--drop-where: North equals the sum of some others in 60 of 60 periods. Leave",
         "--drop-where place=North", 30.8682, 46.4130),
        (one_typing_error, "--at-most 200", "--above: 1 count of 180 above the bound, and at least"
         " 4 times every other count of the same entity (Ward 02, 2023-02-20: 5000)",
         "--above missing", 8.9042, 14.8250),
        (another_weekday, "--count patients --capacity beds", "", "", 30.8682, 46.4130),
        (blank_weeks, "--count patients --capacity beds", "", "", 29.5354, 44.0652),
        (percentages, "--count pct --capacity none --at-most 100", "--per-person: 594 of 720",
         "--per-person 4", 30.8685, 46.4140),
        (to_date, "--at-most 6000", "--cumulative: counts rise in 708, fall in 0 and begin again",
         "--cumulative difference", None, None),
        (yearly, "--at-most 9000", "and begin again in 24 of 1,788 steps",
         "--cumulative difference", None, None),
        (two_measures, "--count value --at-most 300",
         "Column measure tells them apart", "--keep measure=patients", None, None),
    ],
)  # fmt: skip
def test_a_table_gives_its_right_value_or_a_question(
    here: Path, capsys, made, options, asked, answer, uniform, best
) -> None:
    made().to_csv("t.csv", index=False)
    new = ["new", "dataset", "t.csv", *told(options)]
    code = main(new)
    said = capsys.readouterr().err
    assert code == (2 if asked else 0), said
    if asked:
        assert asked in said
        assert not Path("t.yaml").exists()
        assert main([*new, *answer.split()]) == 0, capsys.readouterr().err
    if uniform:
        gains = dpol.read_table("t.yaml").gains
        values = gains.mean(axis=1).sum(), gains.sum(axis=0).max()
        np.testing.assert_allclose(values, (uniform, best), atol=5e-5)


def test_a_config_that_leaves_out_the_answer_is_refused_by_the_library_too(here: Path) -> None:
    with_whole(wards(), "ENGLAND").to_csv("t.csv", index=False)
    columns = {"entity": "place", "period": "week", "count": "patients", "capacity": "beds"}
    with pytest.raises(DoubtError) as caught:
        dpol.read_table("t.csv", **columns)
    said = str(caught.value).splitlines()
    assert said[1:] == [
        "  ENGLAND equals the sum of all others in 60 of 60 periods. Leave out such a total, which"
        " is no place?",
        '    set cleaning.drop_where: {"place": ["ENGLAND"]}',
        '    if it is as it should be, cleaning.checked: ["totals"]',
    ]
    (doubt,) = caught.value.doubts
    assert doubt.sure
    places = dpol.read_table("t.csv", **columns, cleaning={"drop_where": {"place": "ENGLAND"}})
    assert places.n_experts == 12
    assert dpol.read_table("t.csv", **columns, cleaning={"checked": ["totals"]}).n_experts == 13


def test_totals_to_date_become_what_was_added(here: Path) -> None:
    """The panel is that of the table from which they were summed, without the first period."""
    t = counts_only(wards())
    summed = t.assign(patients=t.groupby("place")["patients"].cumsum())
    columns = {"entity": "place", "period": "week", "count": "patients"}
    columns |= {"gain": {"of": "count", "bound": 200}}
    streams = []
    for made, rules in ((t, {}), (summed, {"cumulative": "difference"})):
        made.to_csv("t.csv", index=False)
        streams.append(dpol.read_table("t.csv", **columns, cleaning=rules, count_sensitivity=1))
    np.testing.assert_array_equal(streams[0].gains[1:], streams[1].gains)


def test_a_total_that_began_again_counts_from_0_and_a_correction_is_missing() -> None:
    drawn = {"a": ("10 12 15 3 5", "99 99 99 99 99"), "b": ("20 30 29 40 41", "99 99 99 99 99")}
    panel = clean(drawn, dataset(cumulative="difference", max_carry=0))
    counts = panel.table.pivot(index="period", columns="entity", values="count")
    assert counts["a"].tolist() == [2, 3, 3, 2]
    assert counts["b"].tolist() == [10, 0, 11, 1]


def test_days_become_weeks(here: Path) -> None:
    days = pd.date_range("2023-01-04", periods=70)
    t = pd.DataFrame([(name, day, (7 * k + 3 * len(name)) % 31, 40)
                      for name in ("a", "bb", "ccc") for k, day in enumerate(days)],
                     columns=["place", "day", "sick", "beds"])  # fmt: skip
    t.to_csv("t.csv", index=False)
    columns = {"entity": "place", "period": "day", "count": "sick", "capacity": "beds"}
    weekly = dpol.read_table("t.csv", **columns, periods={"days": 7, "of": "mean"})
    expected = t.set_index("day").groupby("place")["sick"].resample("7D").mean().unstack("place")
    np.testing.assert_allclose(weekly.gains, expected.to_numpy() / 40)
    assert str(weekly.periods[0]) == "2023-01-04"


def of_days(*names: str, periods: int = 16) -> list[dict[str, str]]:
    return [row("A", name, week(k), str(1 + (k * 7 + place * 5) % 9), "9")
            for place, name in enumerate(names) for k in range(periods)]  # fmt: skip


def test_every_question_is_asked_at_once_and_can_be_answered_with_no(here: Path, capsys) -> None:
    """The totals to date of twelve wards and of their nation, with one typing error."""
    t = with_whole(wards(), "ENGLAND")
    t["patients"] = t.groupby("place")["patients"].cumsum()
    t.loc[t["place"] == "ENGLAND", "patients"] += (t["week"].rank(method="dense") == 9) * 1
    counts_only(t).to_csv("t.csv", index=False)
    new = ["new", "dataset", "t.csv", *told("--at-most 90000")]
    assert main(new) == 2
    _, *questions, command = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in questions] == ["  --drop-where", "  --cumulative"]
    assert command.endswith(" --at-most 90000 --drop-where DROP_WHERE --cumulative CUMULATIVE")
    assert main([*new, "--checked", "totals", "--checked", "cumulative"]) == 0
    cleaning = yaml.safe_load(Path("t.yaml").read_text())["dataset"]["cleaning"]
    assert cleaning["checked"] == ["totals", "cumulative"]


@pytest.mark.parametrize("unit", [5, 10])
def test_a_total_of_rounded_numbers_is_asked_about(unit: int, here: Path, capsys) -> None:
    """Each number is rounded by itself, so no week adds up but by chance."""
    t = with_whole(wards(), "ENGLAND")
    t["patients"] = t["patients"].div(unit).round().mul(unit).astype(int)
    counts_only(t).to_csv("t.csv", index=False)
    assert main(["new", "dataset", "t.csv", *told("--at-most 90000")]) == 2
    assert "--drop-where: ENGLAND equals the sum" in capsys.readouterr().err


def test_a_typing_error_is_asked_about_beside_a_total(here: Path, capsys) -> None:
    t = with_whole(wards(), "ENGLAND")
    ward = t["place"].eq("Ward 03").idxmax()
    t.loc[ward, "patients"] = 20 * t.loc[ward, "beds"]
    t.to_csv("t.csv", index=False)
    assert main(["new", "dataset", "t.csv", *told()]) == 2
    _, total, *_, typed, _ = capsys.readouterr().err.splitlines()
    assert "ENGLAND equals the sum" in total
    assert "Ward 03" in typed
    assert "ENGLAND" not in typed


# ---- guards -------------------------------------------------------------------------------------


def large(t: pd.DataFrame) -> pd.DataFrame:
    first = t["place"] == "Ward 01"
    return t.assign(patients=t["patients"].where(~first, t["patients"] * 40),
                    beds=t["beds"].where(~first, t["beds"] * 40))  # fmt: skip


def averages(t: pd.DataFrame) -> pd.DataFrame:
    noise = np.random.default_rng(5).uniform(-0.5, 0.5, len(t))
    return t.assign(patients=(t["patients"] + noise).clip(0).round(1))


def rising(t: pd.DataFrame) -> pd.DataFrame:
    """Counts that rise for eight weeks of twelve."""
    week = t.groupby("place").cumcount()
    wave = week.where(week < 8, 14 - week)
    return t.assign(patients=(t["beds"] * (0.1 + 0.08 * wave)).astype(int))


def opening(t: pd.DataFrame) -> pd.DataFrame:
    return t[(t["place"] != "Ward 03") | (t["week"] >= "2023-04-03")]


def renamed(t: pd.DataFrame) -> pd.DataFrame:
    names = dict(
        zip(
            sorted(t["place"].unique()),
            ["Total", "Alle", "Summe", "Bund", "US", "Land"],
            strict=False,
        )
    )
    return t.assign(place=t["place"].replace(names))


@pytest.mark.parametrize("change", [large, averages, rising, opening, renamed])
def test_a_table_that_means_what_it_shows_is_not_asked_about(change, here, capsys) -> None:
    change(wards(12, 12 if change is rising else 40)).to_csv("t.csv", index=False)
    assert main(["new", "dataset", "t.csv", *told()]) == 0, capsys.readouterr().err
    assert "left out" not in capsys.readouterr().out


@settings(max_examples=5)
@given(st.integers(0, 10**6), st.integers(2, 8), st.integers(3, 30))
def test_random_panels_are_not_asked_about(seed: int, n: int, periods: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.lognormal(3, 1, n), (periods, n))
    drawn = [row("A", f"p{i}", week(t), str(counts[t, i]), str(2 * counts.max() + 1))
             for t in range(periods) for i in range(n)]  # fmt: skip
    clean(drawn, dataset(checked=[], above=None))


# ---- keys ---------------------------------------------------------------------------------------


def test_rows_of_keep_alone_play() -> None:
    drawn = [*of_days("a", "b", "c"), *[{**it, "state": "B"} for it in of_days("a", "b")]]
    panel = clean(drawn, dataset(keep={"hospital": ["a", "b"]}))
    assert sorted(panel.table["entity"].unique()) == ["a", "b"]
    assert panel.rows_dropped == 16
    assert "no row has 'd' in column hospital" in refused(drawn, dataset(keep={"hospital": "d"}))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"cleaning": {"latest_by": "issue"}}, "needs cleaning.several_rows: last"),
        ({"cleaning": {"checked": ["total"]}}, "totals"),
        ({"cleaning": {"above": "clip"}}, "missing"),
        ({"periods": {"months": 1, "of": "mean"}}, "of needs days, not months"),
        ({"periods": {"of": "mean"}, "cleaning": {"several_rows": "sum"}}, "several_rows"),
    ],
    ids=str,
)  # fmt: skip
def test_a_key_that_does_not_fit_is_refused(here: Path, keys: Mapping[str, Any], said: str) -> None:
    wards(3, 5).to_csv("t.csv", index=False)
    columns = {"entity": "place", "period": "week", "count": "patients", "capacity": "beds"}
    with pytest.raises(dpol.ConfigError, match=said):
        dpol.read_table("t.csv", **columns, **keys)


def test_a_cell_that_is_no_date_of_a_revision_is_named() -> None:
    cells = [{**it, "issue": "2021-05-01"} for it in of_days("a", "b")]
    cells[3]["issue"] = "soon"
    with pytest.raises(DataError, match="column issue, which needs a date(.|\n)*'soon': 1 cell, f"):
        clean_panel(table(cells), dataset(several_rows="last", latest_by="issue"),
                    {"S": Stream(groups=["A"])})  # fmt: skip

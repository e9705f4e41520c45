"""`dpol new dataset` reads tables of all kinds as their owners mean them."""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dpol.cli import main
from dpol.config.experiment import load_experiment
from dpol.core.errors import DataError
from dpol.data.cleaning import clean_panel
from dpol.data.guess import look_at
from dpol.data.raw_table import read_counts
from dpol.data.settings import Dataset
from dpol.data.stream import GainStream, build_stream
from tables_of_all_kinds import MAKERS, Kind


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def config_of(kind: Kind) -> str:
    return f"{kind.file.partition('.')[0]}.yaml"


def streams_of(config: str) -> list[GainStream]:
    of = load_experiment(config).config
    raw = read_counts(of.raw_file, of.dataset)
    panel = clean_panel(raw, of.dataset, of.streams, None, of.at_most).table
    most = of.dataset.cleaning.max_clipped
    return [
        build_stream(panel, label, 1.0, {}, gain=of.gain, max_clipped=most) for label in of.streams
    ]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_table_is_read_in_at_most_two_runs_and_edits(here: Path, capsys, make) -> None:
    """The expected gains are computed by pandas alone."""
    kind = make(here)
    needs_more = bool(kind.options or kind.edits)
    assert main(["new", "dataset", kind.file]) == needs_more
    said = capsys.readouterr()
    if kind.options:
        assert kind.options[0] in said.err
        assert not Path(config_of(kind)).exists()
        assert main(["new", "dataset", kind.file, *kind.options]) == 0
    for old, new in kind.edits:
        assert new.partition("\n")[2].strip() in said.err
        text = Path(config_of(kind)).read_text()
        assert old in text
        Path(config_of(kind)).write_text(text.replace(old, new))
    whole, *groups = streams_of(config_of(kind))
    expected = kind.gains.sort_index(axis=1)
    assert list(whole.entities) == list(expected)
    assert [str(day) for day in whole.periods] == [str(day.date()) for day in expected.index]
    np.testing.assert_allclose(whole.gains, expected.to_numpy(float), rtol=1e-12)
    assert sum(stream.n_experts for stream in groups) in (0, whole.n_experts)


def looked(path: Path, text: str, **told: str | float) -> dict[str, object]:
    """Return all keys of the config that are guessed from a table."""
    path.write_text(text, encoding="utf-8")
    seen = look_at(path, told)
    return {**seen.format, **seen.columns, **seen.periods, **seen.cleaning, **seen.gain}


def rows(header: str, *lines: str, towns: str = "Ulm Bonn Trier") -> str:
    """Return lines of several towns; `{}` in a line is the town."""
    of_towns = [line.format(town) for town in towns.split() for line in lines]
    return "\n".join([header, *of_towns]) + "\n"


DAYS = "2021-01-03", "2021-01-10", "2021-01-17"
PLAIN = "2021-01-03,{},5,30", "2021-01-10,{},6,30", "2021-01-17,{},4,30"


@pytest.mark.parametrize(
    ("header", "lines", "expected"),
    [
        ("d,town,sick,beds", PLAIN, {"days": 7, "count": "sick", "capacity": "beds"}),
        ("d,town,sick,n", PLAIN, {"count": "sick", "capacity": "n"}),  # n never changes
        ("d,town,absentPupils,pupils", PLAIN, {"count": "absentPupils", "capacity": "pupils"}),
        ("d,town,n,beds", ("2021-01-03,{},5,30", "2021-01-10,{},6,31", "2021-01-17,{},4,30"),
         {"count": "n", "capacity": "beds", "days": 7}),
        ("d,town,sick,beds", tuple(line.replace("-", "/") for line in PLAIN), {"date": "YYYY/M/D"}),
        ("d,town,sick,beds", ("2021-W01,{},5,30", "2021-W03,{},5,30"),
         {"date": "YYYY-Www", "days": 14}),
        ("d,town,sick,beds", ("2021-03,{},5,30", "2021-06,{},5,30"),
         {"date": "YYYY-M", "months": 3}),
        ("d,town,sick,beds", ("Jan 2019,{},5,30", "February 2019,{},5,30"),
         {"date": "Mon YYYY", "months": 1}),
        ("d,town,sick,beds", ("2018-Q1,{},5,30", "2018-Q2,{},5,30"),
         {"date": "YYYY-Qq", "months": 3}),
        ("year,town,sick,beds", ("2005,{},5,30", "2006,{},5,30"), {"date": "YYYY", "months": 12}),
        ("d,town,sick,beds", ("2021-01-31,{},5,30", "2021-02-28,{},5,30", "2021-03-31,{},5,30"),
         {"date": None, "months": 1}),
        ("d,town,sick,beds", ("2021-03-31,{},5,30", "2021-06-30,{},5,30", "2021-09-30,{},5,30"),
         {"months": 3}),
        ("d;town;sick;beds", ("3.1.2021;{};5,5;30", "4.1.2021;{};5,25;30"),
         {"delimiter": ";", "date": "D.M.YYYY", "decimal": ",", "days": 1}),
        ("d,town,sick,beds", ("2021-01-03,{},..,30", "2021-01-10,{},4,30", "2021-01-17,{},*,30"),
         {"missing_markers": ["", ".."], "suppressed_markers": ["*"]}),
        ("Report\n\nd|town|sick|beds", ("2021-01-03|{}|5|30", "2021-01-10|{}|6|30"),
         {"skip_rows": 2, "delimiter": "|"}),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_what_a_table_shows(tmp_path: Path, header: str, lines: tuple[str, ...], expected) -> None:
    seen = looked(tmp_path / "t.csv", rows(header, *lines))
    assert seen["entity"] == "town"
    assert {key: seen.get(key) for key in expected} == expected


@pytest.mark.parametrize(
    ("header", "lines", "said", "told", "expected"),
    [
        ("d,town,sick,beds", ("1/2/2021,{},5,30", "1/9/2021,{},5,30"),
         "--date: '1/2/2021', '1/9/2021' may be D/M/YYYY or M/D/YYYY",
         {"date": "M/D/YYYY"}, {"days": 7}),
        ("d,town,sick,beds", ("2021-01-03,{},1.230,3000", "2021-01-10,{},1.100,3000"),
         "--decimal: the point in '1.230' may separate decimals or thousands; give the",
         {"decimal": ","}, {"thousands": "."}),
        ("d,town,sick,beds", ("2021-01-03,{},1.230,3000", "2021-01-10,{},1.100,3000"),
         "--decimal", {"decimal": "."}, {"decimal": "."}),
        ("d,town,sick", ("2021-01-03,{},5", "2021-01-10,{},6"),
         "--at-most: without capacities, sick needs a bound, above which counts are clipped;",
         {"at_most": 20}, {"of": "count", "bound": 20}),
        ("d,town,loans,seats", ("2021-01-03,{},50,5", "2021-01-10,{},60,5"),
         "--at-most: loans may exceed seats (50 of 5), so loans per seat needs a bound",
         {"at_most": 20}, {"at_most": 20}),
        ("d,town,a,b", ("2021-01-03,{},5,30", "2021-01-10,{},6,31"),
         "--count and --capacity: which of the columns a, b? --capacity none if",
         {"count": "a", "capacity": "b"}, {"count": "a", "capacity": "b"}),
        ("d,e,town,sick,beds", ("2021-01-03,2021-01-04,{},5,30", "2021-01-10,2021-01-11,{},5,30"),
         "--period: which of the columns d, e holds the dates?", {"period": "d"}, {"period": "d"}),
        ("d,town,age,sick,beds",
         [f"2021-01-{day},{{}},{age},5,30" for day in ("03", "10") for age in ("young", "old")],
         "--entity: no column alone tells the rows of a period apart; the table has d, town, age,",
         {}, {}),
        ("d,town,sick,beds", ("01/03/22,{},5,30", "08/03/22,{},5,30"),
         "--date: '01/03/22', '08/03/22' may be D/M/YY or M/D/YY or YY/M/D",
         {"date": "D/M/YY"}, {"days": 7, "date": "D/M/YY"}),
        ("d,town,sick,beds", ("01-03-2022,{},5,30", "01-10-2022,{},5,30"),
         "--date: '01-03-2022', '01-10-2022' may be D-M-YYYY or M-D-YYYY",
         {"date": "M-D-YYYY"}, {"days": 7}),
        ("d,town,sick,beds", ("2009-10,{},5,30", "2010-11,{},5,30"),
         "--date: '2009-10', '2010-11' may be YYYY-M or years that begin in one year and end in",
         {"date": "YYYY-M"}, {"months": 13}),
        ("d,town,sick,beds", ("2009,{},5,30", "2010,{},5,30"),
         "--period: which of the columns d holds the dates?",
         {"period": "d"}, {"months": 12, "date": "YYYY"}),
        ("d,town,sick,beds", ("W5 in 2021,{},5,30", "W6 in 2021,{},5,30"),
         "--period: which of the columns d, town, sick, beds holds the dates? None has a format"
         " that dpol reads: YYYY-MM-DD, ", {}, {}),
        ("d,town,sick,beds", PLAIN, "--count ill: no such column; the table has d, town, sick",
         {"count": "ill"}, {}),
        ("d,town,sick,beds", PLAIN, "--capacity sick: another option has this name; choose a new",
         {"count": "sick", "capacity": "sick"}, {}),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_what_cannot_be_seen_is_asked_for(
    tmp_path: Path, header: str, lines: tuple[str, ...], said: str, told, expected
) -> None:
    text = rows(header, *lines)
    with pytest.raises(DataError) as asked:
        looked(tmp_path / "t.csv", text, **({} if expected else told))
    assert said in str(asked.value)
    if expected:
        seen = looked(tmp_path / "t.csv", text, **told)
        assert {key: seen.get(key) for key in expected} == expected


CELLS = [
    "", "5", "1,5", "1.230", "-", "<5", "2021-01-03", "2021-01-03 13:00", "2005", "1/2/21",
    "Jan 2021", "Total", "é", '"', "5 kg", "town",
]  # fmt: skip
NAMES = ["d", "town", "sick", "beds", "year", "2021-01", "no such"]


@settings(max_examples=60, deadline=None)
@given(
    cells=st.lists(
        st.tuples(st.integers(0, 8), st.integers(0, 3), st.sampled_from(CELLS)), max_size=6
    ),
    mark=st.sampled_from(",;\t"),
    turned=st.booleans(),
    told=st.dictionaries(
        st.sampled_from(["entity", "period", "count", "capacity", "group"]), st.sampled_from(NAMES),
        max_size=2,
    ),
    layout=st.sampled_from(
        [{}, {}, {"each_day": "sum"}, *({"layout": of} for of in ("long", "wide", "wide-periods"))]
    ),
)  # fmt: skip
def test_any_table_is_seen_or_asked_about(cells, mark, turned, told, layout) -> None:
    lines = [line.split(",") for line in rows("d,town,sick,beds", *PLAIN).splitlines()]
    for place, column, text in cells:
        lines[place][column] = text
    if turned:
        lines = [list(column) for column in zip(*lines, strict=True)]
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(DataError):
        looked(Path(folder) / "t.csv", "\n".join(map(mark.join, lines)), **told, **layout)


def test_all_that_is_missing_is_asked_for_at_once(tmp_path: Path) -> None:
    lines = "1/2/2021,{},1.230", "1/9/2021,{},1.100"
    with pytest.raises(DataError, match=r"(?s)--date: .*\n  --decimal: "):
        looked(tmp_path / "t.csv", rows("d,town,sick", *lines))


def test_questions_that_seldom_depend_on_each_other_are_asked_at_once(tmp_path: Path) -> None:
    def asked(header: str, *lines: str) -> str:
        with pytest.raises(DataError) as caught:
            looked(tmp_path / "t.csv", rows(header, *lines))
        return str(caught.value)

    def options(said: str) -> list[str]:
        return [line.split()[0] for line in said.splitlines()[1:]]

    lines = "01/03/22,5/3/2022,{},1.230,7", "08/03/22,6/3/2022,{},1.100,8"
    keys = options(asked("d,e,town,a,b", *lines))
    assert keys == ["--period:", "--count", "--date:", "--decimal:"]
    said = asked("d,town,n,beds", "1/2/2022,{},1.230,2", "8/3/2022,{},1.100,2")
    assert options(said) == ["--date:", "--decimal:", "--at-most:"]
    assert "--at-most: with --decimal , n may exceed beds (1230 of 2)" in said
    said = asked("d,town,n,beds", "1/2/2022,{},1.230,3000", "8/3/2022,{},1.100,3000")
    assert options(said) == ["--date:", "--decimal:"]


HOURS = [f"2024-03-{day:02} {hour:02}:00" for day in (1, 2, 3) for hour in range(24)]


def hourly() -> str:
    lines = [f"{time},{{}},{(place * 7) % 31},90" for place, time in enumerate(HOURS)]
    return rows("time,sensor_id,carsIn,beds", *lines)


def test_an_hourly_table_says_so_and_is_never_cut_to_its_last_rows(here: Path, capsys) -> None:
    Path("t.csv").write_text(hourly())
    assert main(["new", "dataset", "t.csv"]) == 1
    said = capsys.readouterr().err
    assert (
        "--each-day: the table has 24 rows for each sensor_id and day: hourly ('2024-03-01 00:00',"
        " '2024-03-01 01:00'). dpol plays days at the finest; give sum, mean, max or last"
    ) in said
    assert "With sum also --per-person N: in how many of these rows one person may be" in said
    assert "and --at-most N, a public bound, if a sum may exceed the capacity" in said
    assert not Path("t.yaml").exists()
    cells = pd.read_csv("t.csv", parse_dates=["time"]).set_index("time")
    days = cells.groupby("sensor_id")["carsIn"].resample("D")
    for rule in ("mean", "max", "last"):
        assert main(["new", "dataset", "t.csv", "--each-day", rule]) == 0
        (stream,) = streams_of("t.yaml")
        expected = days.agg(rule).unstack("time")
        np.testing.assert_allclose(stream.gains, expected.to_numpy().T / 90, rtol=1e-12)
        assert f"several_rows: {rule}\n" in Path("t.yaml").read_text()
        assert f"(cleaning.several_rows): {3 * 69}" in capsys.readouterr().out
        Path("t.yaml").unlink()


def test_a_sum_of_rows_needs_the_number_of_them_that_may_count_one_person(
    here: Path, capsys
) -> None:
    Path("t.csv").write_text(hourly())
    assert main(["new", "dataset", "t.csv", "--each-day", "sum"]) == 1
    said = capsys.readouterr().err
    assert "With sum also --per-person N: in how many of these rows one person may be" in said
    assert "--at-most: carsIn may exceed beds (" in said
    told = ["--each-day", "sum", "--per-person", "3", "--at-most", "24"]
    assert main(["new", "dataset", "t.csv", *told]) == 0
    made = yaml.safe_load(Path("t.yaml").read_text())
    assert (made["privacy"]["count_sensitivity"], made["gain"]) == (3, {"at_most": 24})
    Path("t.yaml").unlink()
    Path("t.csv").write_text(hourly().replace(",3,90", ",<5,90"))
    assert main(["new", "dataset", "t.csv", *told]) == 0  # each of three goes from 5 to 2
    assert yaml.safe_load(Path("t.yaml").read_text())["privacy"]["count_sensitivity"] == 9


def test_parts_of_a_period_without_a_time_of_day_have_no_last_row(tmp_path: Path) -> None:
    parts = [("young", 5), ("old", 6)]
    lines = [f"2021-01-{day},{{}},{age},{n},30" for day in ("03", "10") for age, n in parts]
    text = rows("d,town,age,sick,beds", *lines)
    for told in ({}, {"each_day": "last"}):
        with pytest.raises(DataError, match="give sum, mean or max to make one row of them"):
            looked(tmp_path / "t.csv", text, entity="town", **told)
    seen = looked(tmp_path / "t.csv", text, entity="town", each_day="sum", per_person=1)
    assert (seen["several_rows"], seen["max_merged"]) == ("sum", 1)


def test_a_corrected_row_is_no_part_of_a_period(here: Path, capsys) -> None:
    lines = [f"2021-01-{day:02},{{}},5,30" for day in (3, 10, 17, 24, 31)]
    text = rows("d,town,sick,beds", *lines)
    Path("t.csv").write_text(text + text.splitlines()[-1].replace(",5,", ",6,") + "\n")
    assert main(["new", "dataset", "t.csv"]) == 1
    said = capsys.readouterr().err
    assert "t.yaml is written, but needs one change. t.csv, rows 16, 17: Trier has" in said
    assert "several_rows: last, and max_merged: 0.07, to keep the last row" in said


def test_rows_that_are_one_in_a_period_cannot_be_merged(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="--each-day: each town has one row in a period; leave it"):
        looked(tmp_path / "t.csv", rows("d,town,sick,beds", *PLAIN), each_day="sum")


def test_columns_named_by_numbers_are_years_only_without_a_column_of_dates(tmp_path: Path) -> None:
    years = "town,beds,2001,2002,2003\nUlm,9,1,2,3\nBonn,9,3,2,1\n"
    seen = looked(tmp_path / "t.csv", years)
    assert (seen["layout"], seen["date"], seen["months"]) == ("wide-periods", "YYYY", 12)
    numbers = "day,2001,2002,2003\n2021-01-03,1,2,3\n2021-01-10,3,2,1\n"
    assert looked(tmp_path / "t.csv", numbers, at_most=9)["layout"] == "wide"
    keys = {"source": {"kind": "local", "file": "t.csv"}, "columns": {"period": "day"}}
    wide = Dataset.model_validate({**keys, "format": {"layout": "wide"}})
    assert len(read_counts(tmp_path / "t.csv", wide).cells) == 6


def test_a_group_of_one_entity_makes_no_stream(here: Path, capsys) -> None:
    own = {"Ulm": "N", "Bonn": "N", "Trier": "S", "Kiel": "W", "Jena": "W"}
    lines = [f"{day},{town},{own[town]},5,{30 * (town != 'Jena')}" for day in DAYS for town in own]
    Path("t.csv").write_text("\n".join(["d,town,region,sick,beds", *lines]) + "\n")
    assert main(["new", "dataset", "t.csv", "--group", "region"]) == 0
    assert "no stream for groups of one town: S, W" in capsys.readouterr().out
    streams = yaml.safe_load(Path("t.yaml").read_text())["streams"]
    assert {label: of["groups"] for label, of in streams.items()} == {
        "t": ["N", "S", "W"], "N": ["N"],
    }  # fmt: skip
    assert [stream.n_experts for stream in streams_of("t.yaml")] == [4, 2]


def test_the_config_names_the_columns_in_plain_words(here: Path, capsys) -> None:
    Path("t.csv").write_text(rows("d,stationName,bikes_out,Docks", *PLAIN))
    assert main(["new", "dataset", "t.csv", "--capacity", "Docks"]) == 0
    columns = load_experiment("t.yaml").config.dataset.needed_columns
    called = [columns.called(key) for key in ("entity", "count", "capacity")]
    assert called == ["station", "bikes out", "Docks"]
    assert "titles: {entity: station, count: bikes out}" in Path("t.yaml").read_text()


def renamed(identifiers: dict[str, str], header: str = "d,Town,Town ID,sick,beds") -> str:
    """Return six days of three towns; Ulm is called Ulm am Berg from the fourth day on."""
    days = [f"2021-01-{day:02}" for day in range(3, 9)]
    lines = [
        f"{day},{town + ' am Berg' * (town == 'Ulm' and k > 2)},{identifiers[town]},{n + k},{beds}"
        for k, day in enumerate(days)
        for town, n, beds in (("Ulm", 5, 30), ("Bonn", 7, 40), ("Trier", 9, 50))
    ]
    return "\n".join([header, *lines]) + "\n"


IDENTIFIED = {"Ulm": "11", "Bonn": "12", "Trier": "13"}


def test_identifiers_that_outlive_names_are_the_entities(here: Path, capsys) -> None:
    Path("t.csv").write_text(renamed(IDENTIFIED))
    assert main(["new", "dataset", "t.csv"]) == 0
    said = capsys.readouterr().out
    assert "  3 entities by Town ID, with 4 texts in Town; the latest of each is shown\n" in said
    lines = said.splitlines()
    assert lines[-2].endswith("entities with several names, shown by the latest: 1")
    columns = load_experiment("t.yaml").config.dataset.needed_columns
    assert (columns.entity, columns.name, columns.called("entity")) == ("Town ID", "Town", "Town")
    (stream,) = streams_of("t.yaml")
    assert stream.names == ("Ulm am Berg", "Bonn", "Trier")
    expected = np.array([[5 + k, 7 + k, 9 + k] for k in range(6)]) / [30, 40, 50]
    np.testing.assert_allclose(stream.gains, expected)


@pytest.mark.parametrize(
    ("identifiers", "header", "told", "entity", "name"),
    [
        (IDENTIFIED, "d,Town,Town ID,sick,beds", {"entity": "Town ID"}, "Town ID", "Town"),
        (IDENTIFIED, "d,Town,Town ID,sick,beds", {"entity": "Town"}, "Town", None),
        # Two entities with one identifier in a period, or a number that is no identifier.
        ({**IDENTIFIED, "Bonn": "11"}, "d,Town,Town ID,sick,beds", {}, "Town", None),
        (IDENTIFIED, "d,Town,doctors,sick,beds", {}, "Town", None),
    ],
)
def test_names_are_entities_where_no_identifier_tells_more(
    tmp_path: Path, identifiers, header, told, entity, name
) -> None:
    capacity = {"count": "sick", "capacity": "beds", **told}
    seen = looked(tmp_path / "t.csv", renamed(identifiers, header), **capacity)
    assert (seen["entity"], seen.get("name")) == (entity, name)


def test_names_that_follow_each_other_without_identifiers_stop_with_both(here: Path, capsys):
    text = renamed(IDENTIFIED).replace(",11,", ",,").replace(",12,", ",,").replace(",13,", ",,")
    Path("t.csv").write_text(text)
    assert main(["new", "dataset", "t.csv"]) == 1
    said = capsys.readouterr().err
    assert "has 3 cells of 24 that would become 0" in said
    assert "Ulm has no count after 2021-01-05, Ulm am Berg none before 2021-01-06: one en" in said


@pytest.mark.parametrize("beds", [",beds", ""])
def test_simple_rules_play_with_the_noises_of_the_others(here: Path, beds: str) -> None:
    lines = PLAIN if beds else [line.rpartition(",")[0] for line in PLAIN]
    Path("t.csv").write_text(rows(f"d,town,sick{beds}", *lines))
    assert main(["new", "dataset", "t.csv", *([] if beds else ["--at-most", "20"])]) == 0
    (local,) = (
        suite
        for label, suite in load_experiment("t.yaml").config.suites.items()
        if label == "local"
    )
    assert local.noises == (["isotropic", "capacity"] if beds else ["isotropic"])
    assert {"persistence", "window-mean", "cautious-mean", "random-effects"} <= {*local.algorithms}


def test_small_games_of_a_new_config_share_a_job(here: Path) -> None:
    Path("t.csv").write_text(rows("d,town,sick,beds", *PLAIN))
    assert main(["new", "dataset", "t.csv"]) == 0
    assert load_experiment("t.yaml").config.points_per_job == 8


def test_what_a_table_hides_is_said_once_at_the_end(here: Path, capsys) -> None:
    header, *lines = rows("d,town,sick,beds", *PLAIN).splitlines()
    Path("t.csv").write_text("\n".join([header, *lines[:4], header, *lines[4:]]) + "\n")
    assert main(["new", "dataset", "t.csv"]) == 0
    said = capsys.readouterr()
    warning = "row 6 repeats the header, and is left out"
    assert said.out.splitlines()[-2:] == [
        f"  warning: {warning}",
        "Written: t.yaml. Now: dpol run t.yaml --cores 2",
    ]
    assert warning not in said.err


def test_no_guess_depends_on_how_large_counts_within_the_capacity_are(tmp_path: Path) -> None:
    """The config is public, so it must not reveal the counts."""
    few, many = (
        rows("d,town,sick,beds", *(line.replace(",5,", f",{k},") for line in PLAIN))
        for k in (0, 30)
    )
    assert looked(tmp_path / "t.csv", few) == looked(tmp_path / "t.csv", many)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["no.csv"], 2, "no.csv: no such file; give the path of a table from this folder"),
        (["t.txt"], 2, "t.txt: a table ends in .csv, .csv.gz, .tsv, .parquet, .xlsx; save it as"),
        (["there.csv"], 1, "there.yaml: exists already; delete it, or rename the table"),
        (["t.csv", "--step", "week"], 2, "--step week: write a number of days or months, such as"),
        (["t.csv", "--date", "DD"], 2, "--date DD: must be 'YYYY-MM-DD', "),
        (["t.csv.gz"], 1, "t.csv.gz: cannot be read as a .gz file"),
        (["t.xlsx"], 1, "t.xlsx: cannot be read as a .xlsx file"),
        (["t.csv", "--at-most", "0"], 2, "--at-most: must lie from 0.001 to"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_in_words(here: Path, capsys, words, code, said) -> None:
    for name in ("t.txt", "there.csv", "t.csv", "t.csv.gz", "t.xlsx"):
        (here / name).write_text(rows("d,town,sick,beds", *PLAIN))
    (here / "there.yaml").touch()
    try:
        done = main(["new", "dataset", *words])
    except SystemExit as stop:
        done = stop.code
    assert (done, "Traceback") == (code, "Traceback")
    assert said in capsys.readouterr().err
    assert not (here / "t.yaml").exists()


def test_a_column_per_period_may_have_groups(here: Path) -> None:
    towns = [f"{town},{'NS'[place % 2]},40,1,2,3" for place, town in enumerate("abcdef")]
    text = "\n".join(["town,land,beds,2021-01,2021-02,2021-03", *towns, "Total,,240,6,12,18"])
    Path("t.csv").write_text(text)
    seen = look_at(Path("t.csv"), {})
    assert (seen.columns["group"], seen.groups) == ("land", {"N": 3, "S": 3})
    assert seen.cleaning["drop_where"] == {"town": ["Total"]}
    assert seen.periods == {"months": 1}


def test_one_of_several_sheets_is_asked_for(tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        for name in ("2021", "2022"):
            pd.read_csv(io.StringIO(rows("d,town,sick,beds", *PLAIN))).to_excel(
                book, sheet_name=name
            )
    with pytest.raises(DataError, match="--sheet must be one of '2021', '2022'"):
        look_at(tmp_path / "t.xlsx", {})
    seen = look_at(tmp_path / "t.xlsx", {"sheet": "2022"})
    assert (seen.format, seen.columns["entity"]) == ({"sheet": "2022"}, "town")


def test_options_of_a_table_are_for_tables(here: Path, capsys) -> None:
    assert main(["new", "algorithm", "my-own", "--at-most", "3"]) == 2
    assert "--at-most is only for dpol new dataset TABLE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("marker", "counts", "options", "moves"),
    [
        ("<5", "5 6 7", [], 3),  # 5 becomes 2
        ("≤4", "5 6 7", [], 3),
        ("<5", "5 6.5 7", [], 4),  # 5.9 becomes 2
        ("<5", "5 6 7", ["--per-person", "2"], 4),  # 6 becomes 2
        ("*", "8 9 10", [], 6),  # 8, the smallest published, becomes 2
        ("", "5 6 7", [], 1),
    ],
)
def test_the_config_says_how_far_one_person_moves_a_count_that_may_be_suppressed(
    here: Path, capsys, marker, counts, options, moves
):
    cells = [*counts.split(), marker or "7"]
    lines = [f"2021-01-{3 + 7 * week:02},{{}},{cell},30" for week, cell in enumerate(cells)]
    (here / "t.csv").write_text(rows("d,town,sick,beds", *lines))
    assert main(["new", "dataset", "t.csv", *options]) == 0
    text = Path("t.yaml").read_text()
    assert yaml.safe_load(text)["privacy"]["count_sensitivity"] == moves
    assert ("a suppressed count is read as 2" in text) == bool(marker)


def test_the_config_says_that_groups_play_twice(here: Path, capsys) -> None:
    for groups in ("North North South South", "North North North North"):
        own = dict(zip(("Ulm", "Bonn", "Trier", "Kiel"), groups.split(), strict=True))
        lines = [f"{day},{town},{own[town]},5,30" for day in DAYS for town in own]
        (here / "t.csv").write_text("\n".join(["d,town,region,sick,beds", *lines]) + "\n")
        Path("t.yaml").unlink(missing_ok=True)
        assert main(["new", "dataset", "t.csv", "--group", "region"]) == 0
        twice = "its people have sqrt(2) times the mu" in Path("t.yaml").read_text()
        assert twice == ("South" in groups)


def test_the_config_says_how_far_one_person_moves_a_count(here: Path, capsys) -> None:
    (here / "t.csv").write_text(rows("d,town,sick,beds", *PLAIN))
    assert main(["new", "dataset", "t.csv", "--per-person", "20"]) == 0
    assert yaml.safe_load(Path("t.yaml").read_text())["privacy"]["count_sensitivity"] == 20
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "t.csv:"
    assert said[1] == "  entity: town (column town: 'Ulm', 'Bonn')"
    assert said[-1] == "Written: t.yaml. Now: dpol run t.yaml --cores 2"

"""Tables of owners are read rightly, asked about, or visible in what was understood."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import dpol
import owners_tables as of
from dpol.cli import main
from dpol.show.heat_map import heat_map

PARTS = "--capacity none --at-most 20 --row part --per-person 1"
WEEKS = "--entity la_name --period time_period,time_identifier"

ASKED = [
    (of.equal_parts, PARTS, "--equal-rows: 141 rows of 624, with 22% of all"),
    (of.unnamed_ages, "--row mean", "--equal-rows: 335 rows of 1,456"),
    (of.corrected_totals_to_date, "--at-most 200", "but totals to date, --cumulative\nComplete and"
     " run: dpol new dataset t.csv"),
    (of.schools, f"{WEEKS} --date YYYY-MM-DD", "--date: '2023-1' is no date of the format"),
    (of.one_name, "", "Column city tells them apart (Ulm and Bonn)"),
    (of.negative, "", "--negative-counts: -3: missing?"),
    (lambda: of.renamed(of.wards(30)), "", "--identifiers: one of two has a row in nearly every"
     " period, and never both: Ward 05 (26 rows) and St Mary. One entity under two names?"),
    (lambda: of.wards().drop(index=range(0, 720, 9)), "",
     "--absent: 11% of the cells of entities and periods have no row (most of all Ward 01 12%"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "options", "said"), ASKED)
def test_a_table_that_may_mean_something_else_is_asked_about(
    here: Path, capsys, made, options: str, said: str
) -> None:
    made().to_csv("t.csv", index=False)
    assert main(["new", "dataset", "t.csv", *of.told(options)]) == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in here.iterdir()] == ["t.csv"]


SEEN = [
    (of.twice, "--row part --per-person 1", "720 in the file, 360 play; 360 eq"),
    (of.shelters, "--count OCCUPIED --capacity ACTUAL", "990 in the file, 540 play; 5 places do not"
     " play, never reports a capacity above 0: Ward 07 (90), Ward 08 (90)"),
    (of.zeros_for_missing, "", "below half of their neighbours Mon 27 Mar 2023, Mon 26 Jun 2023"),
    (of.in_utc, "", "'2023-01-01T23:00:00.000Z' is read as Sun 1 Jan 2023; 60 periods of 7 days"),
    (of.one_member, "", "alike: Isles and Ward 09 (correlation 1.00, 1.00 times as large)"),
    (of.average, "", "follows the others most: ENGLAND (correlation 1.00, .083 times their sum)"),
    (lambda: of.with_whole(of.counts_only(of.wards(9)), "All trusts", factor=1.11, more=5),
     "--at-most 2000",
     "follows the others most: All trusts (correlation 1.00, 1.12 times their sum)"),
    (lambda: of.changed(of.place("Ward 06"), beds=lambda t: 10 * t["beds"]), "",
     "at the ends Ward 06 .0"),
    (lambda: of.changed(lambda t: t["week"] > "2023-09-01", patients=lambda t: t["patients"] // 10),
     "", "below half of their neighbours Mon 4 Sep 2023"),
    (lambda: of.changed(lambda t: t["week"] == "2024-02-19", patients=lambda t: t["patients"] // 7),
     "", "periods below half of their neighbours Mon 19 Feb 2024"),
    (of.free_and_occupied, "--capacity free", "142 counts of 320 above the capacity"),
    (lambda: of.wide(holiday=[k % 2 for k in range(60)]), "--at-most 200", "values only holiday"),
    (lambda: of.wide(week_no=[k % 52 for k in range(60)]), "--at-most 200", "and week_no\n"),
    (of.three_sites, "--row part --several-capacities sum --per-person 1",
     "from '57', '45' and '26' in row"),
    (lambda: of.sexes(0.08), "--at-most 500 --row part --per-person 1",
     "of column sexe are added: 0 52%, 1 21% and 2 27%"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "options", "said"), SEEN)
def test_what_no_question_finds_is_in_a_line(here: Path, capsys, made, options, said) -> None:
    made().to_csv("t.csv", index=False)
    main(["new", "dataset", "t.csv", *of.told(options)])
    told = capsys.readouterr()
    assert said in told.out + told.err
    assert not ("not play" in told.out and "No gaps." in told.out)


def test_a_part_of_a_line_without_something_to_see_is_not_printed(here: Path, capsys) -> None:
    of.wards().to_csv("t.csv", index=False)
    assert main(["new", "dataset", "t.csv", *of.told()]) == 0
    said = capsys.readouterr().out
    for words in ("none", "equal to another", "not play", "two values", "follows the others"):
        assert words not in said


WAYS = [
    (of.schools, f"{WEEKS} --date YYYY-ww --keep", of.wards(8, 30, 12), ""),
    (of.free_and_occupied, "--capacity patients,free", of.wards(8, 40, 14), ""),
    (of.one_name, "--entity place,city", of.wards(8, 40, 15), ", Ulm"),
    (of.month_names, "--period year,month", of.monthly(), ""),
]  # fmt: skip


@pytest.mark.parametrize(("made", "options", "truth", "after"), WAYS)
def test_a_way_out_gives_the_right_gains(here: Path, made, options, truth, after) -> None:
    made().to_csv("t.csv", index=False)
    words = of.told(options)
    words += ["geographic_level=Local authority"] if words[-1] == "--keep" else []
    assert main(["new", "dataset", "t.csv", *words]) == 0
    stream = dpol.read_table("t.yaml")
    shares = truth.assign(share=truth["patients"] / truth["beds"])
    wide = shares.pivot(index="week", columns="place", values="share")
    expected = sorted(wide.to_numpy().sum(axis=0))
    np.testing.assert_allclose(sorted(stream.gains.sum(axis=0)), expected)
    assert after in stream.entities[0]


@pytest.mark.usefixtures("empty_folder")
def test_a_dirty_workbook_takes_some_commands_and_no_edit(capsys) -> None:
    of.write_workbook(Path("clinics.xlsx"))
    five = "--entity Clinic --period Week --count Seen --capacity Slots --row number --sheet Data"
    new = ["new", "dataset", "clinics.xlsx", *five.split()]
    assert main(new) == 2
    assert "'n/a': missing, or too small to publish?" in capsys.readouterr().err
    assert main(new := [*new, "--missing", "n/a"]) == 1
    assert "--identifiers 'elm street=Elm Street'" in capsys.readouterr().err
    assert main(new := [*new, "--identifiers", "elm street=Elm Street"]) == 2
    assert "--above ABOVE" in capsys.readouterr().err
    assert main([*new, "--above", "missing"]) == 0
    assert capsys.readouterr().out.endswith("Now: dpol run clinics.yaml --cores 2\n")
    assert Path("results/clinics/data/understood.svg").stat().st_size > 10_000
    text = Path("clinics.yaml").read_text()
    assert f"# dpol new dataset clinics.xlsx {five} --missing n/a --identifiers" in text
    cleaning = yaml.safe_load(text)["dataset"]["cleaning"]
    assert cleaning["identifiers"] == {"elm street": "Elm Street"}


def test_rows_that_r_numbers_are_read(here: Path) -> None:
    of.wards().to_csv("t.csv")
    text = Path("t.csv").read_text().removeprefix(",")
    lines = text.splitlines()
    rows = [f"{k},{line.partition(',')[2]}" for k, line in enumerate(lines[1:], start=1)]
    Path("t.csv").write_text("\n".join([lines[0], *rows]))
    assert main(["new", "dataset", "t.csv", *of.told()]) == 0
    assert dpol.read_table("t.yaml").n_experts == 12


def test_a_heat_map_puts_twins_beside_each_other_and_names_all_places() -> None:
    twin = of.one_member().rename(columns={"place": "entity", "week": "period"})
    table = twin.assign(stream="t")
    (ax, _) = heat_map(table, "patients", "patients").axes
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert sorted(names) == sorted(twin["entity"].unique())
    assert abs(names.index("Isles") - names.index("Ward 09")) == 1
    both = pd.concat([table, table.assign(stream="u")])
    assert len(heat_map(both, "patients", "patients").axes) == 3
    drawn = heat_map(table.assign(patients=0.0), "patients", "patients")
    assert drawn.get_label() == "13 places, 60 periods"


def test_of_many_places_the_least_usual_are_drawn_first() -> None:
    t = of.wards(150, 30).rename(columns={"place": "entity", "week": "period"}).assign(stream="t")
    odd = t["entity"] == "Ward 77"
    late = odd & (t["period"] >= t["period"].max())
    t["patients"] = t["patients"].mask(late, 40 * t["patients"])
    ax = heat_map(t, "patients", "patients").axes[0]
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert (len(names), names[0]) == (100, "Ward 77")

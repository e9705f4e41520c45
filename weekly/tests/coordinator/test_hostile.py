"""Reports of a hostile holder, or of one with bad luck: they change nothing for the others."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import datetime
import io
import json
import os
import subprocess
import sys

import pytest

from dpol.cli import main
from dpol_weekly.coordinator.collect import set_aside
from dpol_weekly.coordinator.decide import check, decide
from dpol_weekly.coordinator.evidence import SetAside
from dpol_weekly.coordinator.log import Log, open_log
from dpol_weekly.noise import CountNoise, interval
from weekly import MU, Coordinator, chain_of, day, identity, record_of, recorded

SD = CountNoise(MU).standard_deviation
V0, V1, V2 = (("V", it, "6") for it in range(3))
X0, X1 = ("X", 0, "5"), ("X", 1, "4")


@pytest.fixture
def world(tmp_path):
    """A coordinator's folder, and reports of a victim V and of a hostile X."""
    return Coordinator(tmp_path, "VXC")


def date(number):
    return datetime.date.fromisoformat(day(number))


def forged(path, **changed):
    """Change cells of the first row of a report; what others follow from them, and its checksum."""
    with path.open(newline="") as stream:
        header, row, *others = csv.reader(stream)
    cells = dict(zip(header, row, strict=True)) | changed
    with contextlib.suppress(ValueError, ZeroDivisionError, OverflowError):
        count, beds = float(cells["noisy_count"]), float(cells["capacity"])
        follows = {"noisy_share": f"{count / beds:.9g}", "noise_sd": f"{SD / beds:.6g}"}
        cells |= {key: text for key, text in follows.items() if key not in changed}
        low, high = interval(cells["noisy_share"], cells["noise_sd"])
        cells |= {key: it for key, it in (("low", low), ("high", high)) if key not in changed}
    with path.open("w", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, cells.values(), *others])
    return rewritten(path)


def rewritten(path, **changed):
    """Change keys of the record of a report, and put its checksum right."""
    facts = json.loads(record_of(path).read_text()) | changed
    del facts["sha256"]
    return recorded(path, facts)


NUMBER = "is not a number as dpol privatize writes it"
RANGE, SHARE = "its noisy count is out of range", "is not the noisy count over"
# A cell of a row of X, what is put there, and why the row is refused.
CELLS = [
    ("noisy_count", ["1" + "0" * 300, "1e300", "nan", "inf", "1_0.000000", "٥.000000"], NUMBER),
    ("noisy_count", ["5.0", "+5.000000", "05.000000", "-0.000000"], NUMBER),
    ("noisy_count", [" 5.000000", "5.000000\n"], NUMBER),
    ("noisy_count", ["999999999999.000000", "-134.000000"], RANGE),
    ("capacity", ["0.0", "-20", "20\n", " 20", "1000000000"], f"capacity {NUMBER}"),
    ("mu", ["0.5\n", "0.50"], NUMBER),
    ("count_sensitivity", ["1\n"], NUMBER),
    ("count_sensitivity", ["0.5"], "the count sensitivity is 0.5"),
    ("noisy_share", ["0.25\n", "0.250", "0.26", "inf"], SHARE),
    ("noise_sd", ["0.14", "0.141422"], "its noise_sd is not that of"),
    ("low", ["0.1"], "are not the interval"),
    ("period", ["2099-01-04", "9999-12-26", day(52 * 5)], "has not ended on 2026-01-02"),
    ("period", ["20210103", "2021-01-03\n", "2021-02-30"], "no period of the deployment starts"),
    ("entity", ["<script>alert(1)</script>", "V\x1b[2J", "X "], "is not an entity"),
]
CASES = [({column: text}, message) for column, texts, message in CELLS for text in texts]
CASES += [
    ({"noisy_count": "999999999999.000000", "capacity": "0.01"}, RANGE),
    ({"noisy_count": "1" + "0" * 308, "capacity": "0.001", "noisy_share": "inf"}, NUMBER),
    ({"mu": "0.6", "noise_sd": f"{2**0.5 / 0.6 / 20:.6g}"}, "larger than agreed"),
]
TODAY = datetime.date(2026, 1, 2)


@pytest.mark.parametrize(("cells", "message"), CASES)
def test_a_cell_that_privatize_does_not_write_is_refused_and_nobody_else(world, cells, message):
    bad = forged(world.file(X0), **cells)
    others = world.file(V0, ledger="V"), world.file(("C", 0, "4"), ledger="C")
    done = world.collect(bad, *others, today=TODAY)
    assert [it.taken for it in done] == [0, 1, 1]
    (line,) = done[0].refused
    assert message in line
    assert decide(world.folder).named == ("V",)


def test_the_table_of_attacks_is_about_reports_that_are_taken_otherwise(world):
    assert world.collect(forged(world.file(X0)), today=TODAY)[0].taken == 1
    bounds = "-133.000000", "133.000000"  # 20 beds and 40 standard deviations
    for number, count in enumerate(bounds, start=1):
        path = forged(world.file(("X", number, "1"), output=count), noisy_count=count)
        assert world.collect(path, today=TODAY)[0].taken == 1
    assert world.put(("C", 0, "3", "0012."), ledger="C").taken == 1


def test_a_period_is_taken_from_the_day_after_its_last_one_on(world):
    file, last = world.file(X0), datetime.date(2021, 1, 9)
    assert "has not ended on 2021-01-09" in world.collect(file, today=last)[0].refused[0]
    assert world.collect(file, today=last + datetime.timedelta(1))[0].taken == 1


DAMAGED = "the chains of its noise are damaged"
IDS = {"id": "0" * 16, "output": "0" * 16}
RECORDS = [
    (None, "no record fits this table"),
    *((text, "no record fits this table") for text in ("[" * 100_000, '"record"', '{"ledger": ')),
    ('{"rows": ' + "9" * 5000 + "}", "no record fits this table"),
    ({"ledger": []}, "is not a record"),
    *(
        ({"ledger": IDS | {key: value}}, "16 signs")
        for key, value in (("id", '=HYPERLINK("x")'), ("id", "0" * 16 + "\n"), ("output", 10**15))
    ),
    *(({"chains": it}, DAMAGED) for it in (3, True, [{"first_row": 1}], [{}], ["chain"])),
]
FIT, LINE = "does not fit mu and memory", "does not fit line 2"
# A key of the record's chain of X, what is put there, and why its rows are refused, or one of them.
CHAINS = [
    ("first_row", 1e400, DAMAGED),
    ("first_row", 10**400, DAMAGED),
    ("first_row", 0, "do not fit the rows"),
    ("first_row", 9, "do not fit the rows"),
    ("releases", True, DAMAGED),
    ("releases", 1, "not that of the noise"),
    ("releases", 3, "do not fit the rows"),
    ("chain_periods", 1, DAMAGED),
    ("chain_periods", 900, FIT),
    ("entity", "V", LINE),
    ("first_period", day(1), LINE),
    ("mu", 0.4, LINE),
    ("a", 0.1, FIT),
    ("a", 1e400, DAMAGED),
    ("b", 0.61, FIT),
    ("b", "0.6", DAMAGED),
    ("scale", 5_000_000, FIT),
    ("unit_weeks", 2, FIT),
]


RECORDS += [({"chains": [chain_of("X") | {key: it}]}, message) for key, it, message in CHAINS]
RECORDS += [({"deployment": None}, "does not say which deployment")]
RECORDS += [({"deployment": {"name": "other", "sha256": "0"}}, "of another deployment (other)")]
RECORDS += [({"chains": []}, "its noise_sd is not that of")]


@pytest.mark.parametrize(("changed", "message"), RECORDS)
def test_a_damaged_record_loses_its_own_report_only(world, changed, message):
    world.agree("VXC", noise={"memory": "designed"})
    bad = world.file(X0, X1, chains=[chain_of("X")])
    good, record = record_of(bad).read_text(), record_of(bad)
    if changed is None:
        record.unlink()
    elif isinstance(changed, str):
        record.write_text(changed)
    else:
        rewritten(bad, **changed)
    done = world.collect(bad, world.file(V0, ledger="V"))
    assert done[1].taken == 1
    assert done[0].taken + len(done[0].refused) in (1, 2)
    assert done[0].refused
    assert all(message in line for line in done[0].refused)
    record.write_text(good)
    (again,) = world.collect(bad)
    assert again.taken + again.known == 2


def test_what_nobody_foresaw_loses_one_report_only(world, monkeypatch):
    """Nothing of the bad report stays, not even its good rows."""
    known = Log.add_report

    def add_report(log, rows, **facts):
        known(log, rows, **facts)
        if rows[0].cells.entity == "X":
            raise OverflowError("too large")

    monkeypatch.setattr(Log, "add_report", add_report)
    world.put(V0, ledger="V")
    bad = world.file(X0, V1, ledger="W")
    done = world.collect(bad, world.file(V1, ledger="W", output="P"), new_ledgers=["V"])
    assert [it.taken for it in done] == [0, 1], "the new ledger is still to be accepted"
    assert "cannot be taken (OverflowError)" in done[0].refused[0]
    with open_log(world.folder) as log:
        (reports,) = log.connection.execute("SELECT COUNT(*) FROM report").fetchone()
        (acts,) = log.connection.execute("SELECT COUNT(*) FROM act").fetchone()
    assert (reports, acts) == (2, 1)


def test_104_to_107_links_second_versions_and_other_noise_are_refused(world):
    link = world.file(X0, name="link.csv")
    link.unlink()
    link.symlink_to("/etc/passwd")
    assert "is not a release of dpol" in world.collect(link)[0].refused[0]
    done = world.put(X0, ("X", 0, "9"))
    assert (done.taken, len(done.refused)) == (1, 1), "105: twice in one report"
    less = forged(world.file(X1, output="P"), count_sensitivity="0.5")
    assert "count sensitivity is 0.5" in world.collect(less)[0].refused[0]
    (line,) = world.put(("X", 0, "8"), output="P").refused
    assert "X has reported 2021-01-03 already, with other numbers (" in line
    assert "--continue-from" in line
    assert "twice" not in line


@pytest.mark.parametrize("which", ["table", "record"])
def test_a_pipe_is_refused_and_not_read(world, which):
    bad = world.file(X0)
    pipe = bad if which == "table" else record_of(bad)
    pipe.unlink()
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "dpol", "collect", str(bad), "--into", str(world.folder)]
    command += ["--deployment", str(world.deployment)]
    ran = subprocess.run(command, check=False, capture_output=True, timeout=60, text=True)
    assert ran.returncode == 1
    assert ("is not a file" if which == "table" else "no record fits") in ran.stderr


# One ledger per entity.


def test_91_rows_about_another_hospital_are_found_and_set_aside(world, capsys):
    assert world.put(X0, ("V", 0, "19"), name="x.csv").taken == 2
    (line,) = world.put(V0, V1, ledger="V").refused
    assert "2 rows of V: the ledger of this report is not that of the first one about V" in line
    assert "(x.csv, collected on 20" in line
    assert "--new-ledger V" in line
    assert "dpol set-aside" in line
    assert "twice" not in line
    words = ["--entity", "V", "--reason", "X is not V"]
    assert main(["set-aside", str(world.folder), *words]) == 0
    assert capsys.readouterr().out == "set aside: V, 2021-01-03\n"
    done = world.put(V0, V1, ledger="V")
    assert (done.taken, done.corrections, done.refused) == (2, 0, ())
    # The hostile table comes again, and changes nothing.
    again = world.put(X0, ("V", 0, "19"), X1, ("V", 1, "18"), name="x.csv")
    assert (again.taken, again.known, again.aside) == (1, 2, 1)
    assert "is not that of the first one about V (" in again.refused[-1]
    assert decide(world.folder).spent.corrections == 0


def test_92_the_id_of_another_ledger_binds_nobody_else(world):
    """92: the id alone. 92b: the victim's rows are repeated, and one of the attacker is added."""
    world.put(V0, ledger="V")
    assert world.put(V0, X0, ledger="V").taken == 1
    done = world.put(V0, V1, ledger="V")
    assert (done.taken, done.refused) == (1, ())


def test_what_was_said_in_the_name_of_another_is_set_aside_with_its_report(world):
    """The ids of ledger and output are public, so a forged row may even seem the victim's own."""
    world.put(V0, ledger="V", output="V")
    assert world.put(V0, ("V", 1, "19"), ledger="V", output="V").taken == 1
    assert "lacks what was reported" in world.put(V0, V1, ledger="V", output="V").refused[0]
    set_aside(world.folder, "V", "forged", date(1))
    assert world.put(V0, V1, ledger="V", output="V").taken == 1


def test_a_lost_ledger_is_accepted_by_name_and_once(world):
    world.put(V0, ledger="V", name="first.csv")
    done = world.put(V1, ledger="W")
    assert "the first one about V (first.csv," in done.refused[0]
    assert world.put(V1, ledger="W", new_ledgers=["C"]).taken == 0
    assert world.put(V1, ledger="W", new_ledgers=["V"]).taken == 1
    assert world.put(V2, ledger="W", output="P").taken == 1, "bound to the new ledger"
    assert world.put(V0, ("V", 3, "7"), ledger="V").taken == 0, "and not to the old one"
    with open_log(world.folder) as log:
        (act,) = log.connection.execute("SELECT * FROM act").fetchall()
    assert (act["kind"], act["entity"]) == ("new ledger", "V")
    assert identity("W") in act["reason"]
    # One new ledger is accepted, not any number of them.
    files = world.file(("V", 3, "7"), ledger="Y"), world.file(("V", 4, "7"), ledger="Z")
    assert [it.taken for it in world.collect(*files, new_ledgers=["V"])] == [1, 0]


def test_an_unknown_entity_has_no_new_ledger(world, capsys):
    file = world.file(X0)
    words = ["--into", str(world.folder), "--deployment", str(world.deployment)]
    assert main(["collect", str(file), *words, "--new-ledger", "Y"]) == 1
    assert "Y is not an entity of the deployment" in capsys.readouterr().err
    assert main(["collect", str(file), *words, "--new-ledger", "X"]) == 0


# What is set aside.


def test_what_is_set_aside_is_ignored_named_and_paid_for(world):
    for entity in "VXC":
        world.put(*((entity, it, str(ord(entity) % 7 + it)) for it in range(4)), ledger=entity)
    before = decide(world.folder, date(3))
    set_aside(world.folder, "X", "counted <twice>", date(1))
    after = decide(world.folder)
    assert [it.reports for it in after.outlooks] == [4, 4, 3]
    assert (after.releases, before.set_aside) == (11, ())
    aside = SetAside(entity="X", period=day(1), version=1, reason="counted <twice>")
    assert after.set_aside == (aside,)
    assert after.spent.mu_of_stay == pytest.approx(0.5 * 4**0.5), "it was released"
    page = (world.folder / "index.html").read_text()
    assert "Hospital X for the period from 2021-01-10: counted &lt;twice&gt;" in page
    facts = json.loads((world.folder / "decisions" / f"{day(4)}.json").read_text())
    assert facts["set_aside"][0]["reason"] == "counted <twice>"
    # The decision before rests on what counted then.
    assert check(world.folder, date(3)) == before
    check(world.folder)
    # Reported again it does not count as a correction.
    done = world.put(("X", 1, "7"), ledger="X", output="P")
    assert (done.taken, done.corrections) == (1, 0)
    assert decide(world.folder, date(5)).spent.corrections == 0


def test_a_decision_that_is_made_names_what_was_set_aside_since(world, capsys):
    for entity in "VXC":
        world.put((entity, 0, "5"), (entity, 1, "6"), ledger=entity)
    decide(world.folder)
    set_aside(world.folder, "X", "wrong")
    assert main(["decide", str(world.folder), "--period", day(2)]) == 1
    told = capsys.readouterr().err
    assert "is decided already, and stays: set aside since: X for 2021-01-03, set aside" in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--entity", "Y"], "has no entity 'Y'"),
        (["--entity", "V"], "holds nothing of V that counts"),
        (["--entity", "X", "--period", day(3)], f"nothing of X for {day(3)} that counts"),
    ],
)
def test_only_what_is_there_is_set_aside(world, capsys, words, message):
    world.put(X0)
    assert main(["set-aside", str(world.folder), *words, "--reason", "r"]) == 1
    assert message in capsys.readouterr().err
    assert main(["set-aside", str(world.folder), "--entity", "X", "--reason", "a\nb"]) == 1
    assert main(["set-aside", str(world.folder / "none"), *words, "--reason", "r"]) == 1
    assert not (world.folder / "none").exists()
    assert [it["set_aside"] for it in world.rows()] == [None]


# What was spent.


def test_108_corrections_above_the_budget_are_taken_and_said(world, capsys):
    world.agree("VXC", corrections=True, budget_mu=2)
    world.put(V0, V1, ledger="V")
    file = world.file(X0, ("X", 0, "6"))
    assert main(["collect", str(file), "--into", str(world.folder)]) == 0
    assert "budget" not in capsys.readouterr().out
    decision = decide(world.folder)
    assert decision.spent.above_budget == ()
    assert "within the budget of 2 " in (world.folder / "index.html").read_text()
    # 2^2 / 16 holds two releases of 0.5^2 / 2, and not three.
    file = world.file(X0, ("X", 0, "6"), X1, ("X", 0, "7"), name="three.csv")
    assert main(["collect", str(file), "--into", str(world.folder)]) == 0
    told = capsys.readouterr().out
    assert "above the budget: X has released 2021-01-03 3 times; a stay of 8 such periods" in told
    assert "has mu 2.45, and the deployment allows 2;" in told
    decision = decide(world.folder, date(3))
    (above,) = decision.spent.above_budget
    assert (above.entity, above.period) == ("X", day(0))
    assert above.mu_of_stay == pytest.approx(6**0.5)
    assert decision.spent.mu_of_stay == pytest.approx((4 / 8 + 2 / 8) ** 0.5)
    page = (world.folder / "index.html").read_text()
    assert "Above the budget of 2: Hospital X in 2021-01-03." in page
    # Setting aside takes nothing back.
    set_aside(world.folder, "X", "too many", date(0))
    again = decide(world.folder, date(4))
    assert again.spent == dataclasses.replace(decision.spent, corrections=0)


def test_the_budget_is_compared_exactly(world):
    """Three times 0.16^2 / 2 is 0.48^2 / 6, and more as a sum of floats."""
    assert sum([0.16**2 / 2] * 3) > 0.48**2 / 6
    world.agree("VXC", mu=0.16, budget_mu=0.48, longest_stay=3, corrections=True)
    world.put(V0, ledger="V", mu="0.16")
    rows = [("X", 0, str(count)) for count in range(4)]
    done = world.put(*rows[:3], mu="0.16")
    assert (done.taken, done.above) == (3, ())
    assert decide(world.folder).spent.above_budget == ()
    done = world.put(*rows, mu="0.16")
    assert (done.taken, len(done.above)) == (1, 1)


# Tables for a spreadsheet.


def test_no_text_of_a_table_is_a_formula(world):
    """Titles come from others, and reasons too."""
    for entity in "VX":
        world.put((entity, 0, "5"), ledger=entity)
    decision = decide(world.folder)
    titles = '=HYPERLINK("http://x")', "b;=1", "C"
    named = [
        dataclasses.replace(it, title=title)
        for it, title in zip(decision.outlooks, titles, strict=True)
    ]
    text = dataclasses.replace(decision, outlooks=tuple(named)).as_csv()
    written = [row["title"] for row in csv.DictReader(io.StringIO(text, newline=""))]
    assert written == ["'" + titles[0], "b;'=1", "C"]
    set_aside(world.folder, "X", "=1+1")
    table = world.folder / "r.csv"
    assert main(["export", str(world.folder), "--to", str(table)]) == 0
    with table.open(newline="") as stream:
        assert [row["set_aside"] for row in csv.DictReader(stream)] == ["", "'=1+1"]

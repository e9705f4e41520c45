"""Reports of a hostile holder, or of one with bad luck: they change nothing for the others."""

from __future__ import annotations

import csv
import datetime
import json
import os
import subprocess
import sys

import pytest

from dpol.cli import main
from dpol.core.errors import DataError
from dpol_weekly.coordinator import collect as collect_module
from dpol_weekly.coordinator.collect import set_aside
from dpol_weekly.coordinator.decide import decide
from dpol_weekly.coordinator.log import open_log
from dpol_weekly.records import MOST_BYTES
from dpol_weekly.released.row import Released
from weekly import Coordinator, date, day, identity, parts, public, signed

V0, V1, V2 = (("V", k, "6") for k in range(3))
X0, X1 = ("X", 0, "5"), ("X", 1, "4")
TODAY = datetime.date(2026, 1, 2)


@pytest.fixture
def world(tmp_path):
    """A coordinator's folder, and reports of a victim V and of a hostile X."""
    return Coordinator(tmp_path, "VXC")


def forged(path, **changed):
    """Change cells of the first row of a report, and sign it anew."""
    facts = parts(path)
    cells = dict(zip(Released._fields, facts["rows"][0], strict=True)) | changed
    return signed(path, facts | {"rows": [[*cells.values()], *facts["rows"][1:]]})


def rewritten(path, **changed):
    """Change facts of a report, and sign it anew."""
    return signed(path, parts(path) | changed)


NUMBER, FORM = "is not a number as dpol privatize writes it", "is not as dpol privatize writes it"
RANGE = "its noisy count is out of range"
# A cell of a row of X, what is put there, and why the row, or the file, is refused.
CELLS = [
    ("noisy_count", ["1" + "0" * 300, "1e300", "nan", "٥.000000", " 5.000000"], FORM),
    ("noisy_count", ["5.000000\n", None, 5.0], FORM),
    ("noisy_count", ["5.0", "-0.000000", "05.000000"], NUMBER),
    ("noisy_count", ["999999999999.000000", "-134.000000"], RANGE),
    ("capacity", ["0.0", "-20", "20\n", "1000000000", "20.0", "020", "0"], FORM),
    ("period", ["9999-12-26", day(52 * 5)], "has not ended on 2026-01-02"),
    ("period", ["20210103", "2021-01-03\n"], FORM),
    ("period", ["2021-02-30", "2021-01-04"], "no period of the deployment starts"),
    ("entity", ["<script>alert(1)</script>", "V\x1b[2J", "X ", "x" * 41], FORM),
    ("entity", ["Y"], "is not an entity"),
]


@pytest.mark.parametrize(
    ("column", "text", "message"), [(cell[0], text, cell[2]) for cell in CELLS for text in cell[1]]
)
def test_a_cell_that_privatize_does_not_write_is_refused_and_nobody_else(
    world, column, text, message
):
    bad = forged(world.file(X0), **{column: text})
    others = world.file(V0, ledger="V"), world.file(("C", 0, "4"), ledger="C")
    done = world.collect(bad, *others, today=TODAY)
    assert [report.taken for report in done] == [0, 1, 1]
    (line,) = done[0].refused
    assert message in line


def test_the_table_of_attacks_is_about_reports_that_are_taken_otherwise(world):
    assert world.collect(forged(world.file(X0)), today=TODAY)[0].taken == 1
    bounds = "-133.000000", "133.000000"  # 20 beds and 40 standard deviations
    for number, count in enumerate(bounds, start=1):
        path = forged(world.file(("X", number, "1"), output=count), noisy_count=count)
        assert world.collect(path, today=TODAY)[0].taken == 1
    assert world.put(("C", 0, "3", "0.5"), ledger="C").taken == 1


def test_a_period_is_taken_from_the_day_after_its_last_one_on(world):
    file, last = world.file(X0), datetime.date(2021, 1, 9)
    assert "has not ended on 2021-01-09" in world.collect(file, today=last)[0].refused[0]
    assert world.collect(file, today=last + datetime.timedelta(1))[0].taken == 1


IDS = {"id": "0" * 16, "output": "0" * 16}
RECORDS = [
    ({"ledger": []}, f"{FORM}, at ledger"),
    ({"ledger": IDS | {"id": '=HYPERLINK("x")'}}, f"{FORM}, at ledger.id"),
    ({"ledger": IDS | {"begin_after": "9999-12-31"}}, f"{FORM}, at ledger"),
    ({"rows": []}, "holds no row"),
    ({"words": ["Guarantee: mu = 0.001."]}, f"{FORM}, at the whole"),
    ({"raw": "A,2021-01-03,7"}, f"{FORM}, at the whole"),
]


@pytest.mark.parametrize(("changed", "message"), RECORDS)
def test_a_damaged_record_loses_its_own_report_only(world, changed, message):
    bad = rewritten(world.file(X0, X1), **changed)
    done = world.collect(bad, world.file(V0, ledger="V"))
    assert [report.taken for report in done] == [0, 1]
    assert message in done[0].refused[0]


def test_what_nobody_foresaw_loses_one_report_only(world, monkeypatch):
    """Nothing of the bad report stays, not even its good rows."""
    known, found = collect_module.check_row, collect_module.read_release

    def read_release(path):
        if path.name == "unread.json":
            raise MemoryError
        return found(path)

    def check_row(row, *more):
        if row.entity == "X":
            raise MemoryError
        known(row, *more)

    monkeypatch.setattr(collect_module, "check_row", check_row)
    monkeypatch.setattr(collect_module, "read_release", read_release)
    world.put(V0, ledger="V")
    unread, bad = world.file(X0, name="unread.json"), world.file(V1, X0, ledger="W")
    good = world.file(V1, ledger="W", output="P")
    keys = dict.fromkeys("VX", public("W"))
    done = world.collect(unread, bad, good, keys=keys, new_ledgers=["V"])
    assert [report.taken for report in done] == [0, 0, 1], "the new ledger is still to be accepted"
    for report in done[:2]:
        assert "cannot be taken (MemoryError)" in report.refused[0]
    assert [row["entity"] for row in world.rows()] == ["V", "V"]


# A mailbox.


def test_one_bad_mail_stops_nobody(world):
    """Bombs, pipes, links and names that are no UTF-8, in a process of 1 GB."""
    inbox = world.base / "inbox"
    good = world.file(V0, ledger="V", name="z.json")
    start = b'{"dpol_release": 3, "rows": '
    (inbox / "large.json").write_bytes(start + b" " * MOST_BYTES)
    (inbox / "deep.json").write_bytes(start + b"[" * (MOST_BYTES - 100))
    (inbox / "pairs.json").write_bytes(start + b'[{"a":[' * 2_000_000)
    (inbox / "digits.json").write_bytes(start + b"9" * (MOST_BYTES - 100))
    for number in range(10):
        lists = b"[" + b"[]," * 1_000_000 + b"[]]}"
        (inbox / f"lists-{number}.json").write_bytes(start + lists)
    with (inbox / "sparse.json").open("wb") as stream:
        stream.truncate(3 << 30)
    (inbox / "cut.json").write_bytes(good.read_bytes()[:-30])
    os.mkfifo(inbox / "pipe")
    (inbox / "folder.json").mkdir()
    (inbox / "loop").symlink_to(inbox / "loop")
    (inbox / "up").symlink_to(inbox)
    (inbox / "passwd").symlink_to("/etc/passwd")
    world.file(("C", 0, "4"), ledger="C").rename(inbox / "\udcfcbersicht.json")
    (inbox / "\udcfc-damaged.json").write_bytes(start)
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30));"
        "from dpol.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    known = world.base / "known.json"
    known.write_text(json.dumps({name: public(name) for name in "VC"}))
    words = "collect", inbox, "--into", world.folder, "--deployment", world.deployment
    words += "--known-keys", known
    ran = subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert (ran.returncode, "Traceback" in ran.stderr) == (1, False), ran.stderr
    assert f"{good}: 1 new, 0 known\n" in ran.stdout
    assert "\\udcfcbersicht.json: 1 new, 0 known\n" in ran.stdout
    refused = "\\udcfc-damaged.json: is damaged", "large.json: is larger than 16 MiB"
    more = "deep.json: is nested", "digits.json: is damaged", "lists-9.json: is not as dpol"
    for told in (*refused, *more, "cut.json: is damaged", "pipe: is not"):
        assert told in ran.stderr
    assert {row["file"] for row in world.rows()} == {"z.json", "\\udcfcbersicht.json"}


# One ledger, and one key, per entity.


def test_91_rows_about_another_hospital_are_found_and_set_aside(world, capsys):
    assert world.put(X0, ("V", 0, "19"), name="x.json").taken == 2
    (line,) = world.put(V0, V1, ledger="V").refused
    assert "2 rows of V: this report comes from another ledger than the first one about V" in line
    assert "(x.json, collected on 20" in line
    assert "--new-ledger V" in line
    assert "dpol set-aside" in line
    words = ["--entity", "V", "--reason", "X is not V"]
    assert main(["set-aside", str(world.folder), *words]) == 0
    assert capsys.readouterr().out.startswith("set aside: V, 2021-01-03\nThe head of the log is ")
    done = world.put(V0, V1, ledger="V")
    assert (done.taken, done.corrections, done.refused) == (2, 0, [])
    # The hostile table comes again, and changes nothing.
    again = world.put(X0, ("V", 0, "19"), X1, ("V", 1, "18"), name="x.json")
    assert (again.taken, again.known) == (1, 2)
    assert "comes from another ledger than the first one about V (" in again.refused[-1]


def test_92_the_id_of_another_ledger_binds_nobody_else(world):
    """The ids are public: rows of the victim are repeated, and one of the attacker is added."""
    world.put(V0, ledger="V")
    assert world.put(V0, X0, ledger="V", key="X").taken == 1
    done = world.put(V0, V1, ledger="V")
    assert (done.taken, done.refused) == (1, [])


def test_a_key_binds_from_the_first_report_or_from_the_agreement_on(world):
    world.put(V0, ledger="V")
    (line,) = world.put(V0, V1, ledger="V", key="X").refused
    assert "this report has another key than the earlier ones (1.json, " in line
    assert "collect with that key in --known-keys FILE, and --new-ledger V" in line
    (line,) = world.put(V0, V1, ledger="V", key="W", new_ledgers=["V"]).refused
    assert f"signed with the key {public('W')}, and not with {public('V')}; ask V" in line
    read_out = {"keys": {"V": public("W")}, "new_ledgers": ["V"]}
    assert world.put(V0, V1, ledger="V", key="W", **read_out).taken == 1
    assert world.put(V0, V1, V2, ledger="V").taken == 0, "the old key is gone"
    world.folder = world.base / "agreed"
    world.agree({"V": {"key": public("V")}, "X": {}})
    (line,) = world.put(V0, ledger="V", key="X", keys={"V": public("X")}).refused
    assert "not signed with the key of V in the agreement" in line
    assert world.put(V0, X0, ledger="V").taken == 2
    facts = parts(world.file(V0, V1, ledger="V")) | {"key": public("V")}
    stolen = signed(world.base / "stolen.json", facts, key="X")
    assert "is not signed by the key that it names" in world.collect(stolen)[0].refused[0]


def test_a_lost_ledger_is_accepted_by_name_and_once(world):
    """The new ledger has a new output, which lacks the old periods; these stay, and count."""
    world.put(V0, ("C", 0, "3"), ledger="V", name="first.json")
    new = {"ledger": "W", "output": "W", "key": "V"}
    done = world.put(V1, **new)
    assert "the first one about V (first.json," in done.refused[0]
    assert world.put(V1, **new, new_ledgers=["C"]).taken == 0
    # An impostor comes first, and the hospital's old key decides.
    bad = world.file(("V", 1, "19"), ledger="X", output="X", name="a.json")
    done = world.collect(bad, world.file(V1, **new, name="v.json"), new_ledgers=["V"])
    assert [report.taken for report in done] == [0, 1]
    assert world.put(V1, V2, **new).taken == 1, "bound to the new ledger"
    assert [it["last_report"] for it in decide(world.folder)["outlooks"]] == [day(0), day(2), None]
    assert world.put(V0, ("V", 3, "7"), ledger="V").taken == 0, "and not to the old one"
    with open_log(world.folder) as log:
        (act,) = log.connection.execute("SELECT * FROM act").fetchall()
    assert (act["kind"], act["entity"]) == ("new ledger", "V")
    assert identity("W") in act["reason"]
    # One new ledger is accepted, not any number of them.
    files = [world.file(("V", week, "7"), ledger=f"Y{week}", key="V") for week in (3, 4)]
    done = world.collect(*files, new_ledgers=["V"])
    assert [report.taken for report in done] == [1, 0]
    with pytest.raises(DataError, match="Y is not an entity of the deployment"):
        world.collect(*files, new_ledgers=["Y"])


def test_messages_about_a_file_are_few(world):
    """25,000 rows about nobody that is known."""
    rows = [[f"x{number}", day(0), "3.000000", "20"] for number in range(25_000)]
    file = rewritten(world.file(X0), rows=rows)
    (done,) = world.collect(file)
    assert len(done.refused) == 21
    assert done.refused[-1].endswith("24,980 more rows or entities are refused")


# What is set aside.


def test_what_is_set_aside_is_ignored_and_named_in_the_table_for_anybody(world):
    """No text of a table is a formula: reasons come from others."""
    for entity in "VXC":
        world.put(*((entity, k, str(ord(entity) % 7 + k)) for k in range(4)), ledger=entity)
    set_aside(world.folder, "X", "=1+1", date(3))
    decision = decide(world.folder)
    assert [outlook["last_report"] for outlook in decision["outlooks"]] == [day(3), day(3), day(2)]
    assert decision["reports"] == 11
    table = world.folder / "r.csv"
    assert main(["export", str(world.folder), "--to", str(table)]) == 0
    with table.open(newline="") as stream:
        aside = {(row["entity"], row["period"]): row["set_aside"] for row in csv.DictReader(stream)}
    assert {key: why for key, why in aside.items() if why} == {("X", day(3)): "'=1+1"}
    # Reported again it does not count as a correction.
    done = world.put(("X", 3, "9"), ledger="X", output="P")
    assert (done.taken, done.corrections) == (1, 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--entity", "Y"], "Y is not an entity of the deployment"),
        (["--entity", "V"], "holds nothing of V that counts"),
        (["--entity", "X", "--period", "2021-01-04"], "nothing of X for 2021-01-04 that counts"),
    ],
)
def test_only_what_is_there_is_set_aside(world, capsys, words, message):
    world.put(X0)
    assert main(["set-aside", str(world.folder), *words, "--reason", "r"]) == 1
    assert message in capsys.readouterr().err
    assert main(["set-aside", str(world.folder), "--entity", "X", "--reason", "a\nb"]) == 1
    assert main(["set-aside", str(world.folder / "none"), *words, "--reason", "r"]) == 1
    assert not (world.folder / "none").exists()
    assert [row["set_aside"] for row in world.rows()] == [None]

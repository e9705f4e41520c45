"""Reports of a hostile holder, or of one with bad luck: they change nothing for the others."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys

import pytest

from dpol_weekly.coordinator import collect as collect_module
from dpol_weekly.coordinator.decide import decide
from dpol_weekly.records import MOST_BYTES
from dpol_weekly.released.row import Released
from weekly import Coordinator, day, parts, public, signed

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
    ("entity", ["Y"], "Y does not take part in"),
]


@pytest.mark.parametrize(
    ("column", "text", "message"), [(cell[0], text, cell[2]) for cell in CELLS for text in cell[1]]
)
def test_a_cell_that_privatize_does_not_write_is_refused_and_nobody_else(
    world, column, text, message
):
    bad = forged(world.file(X0), **{column: text})
    others = world.file(V0, key="V"), world.file(("C", 0, "4"), key="C")
    done = world.collect(bad, *others, today=TODAY)
    assert [len(report.taken) for report in done] == [0, 1, 1]
    (line,) = done[0].refused
    assert message in line


def test_the_table_of_attacks_is_about_reports_that_are_taken_otherwise(world):
    assert world.collect(forged(world.file(X0)), today=TODAY)[0].taken
    bounds = "-133.000000", "133.000000"  # 20 beds and 40 standard deviations
    for number, count in enumerate(bounds, start=1):
        path = forged(world.file(("X", number, "1")), noisy_count=count)
        assert world.collect(path, today=TODAY)[0].taken
    assert world.put(("C", 0, "3", "0.5"), key="C").taken


def test_a_period_is_taken_from_the_day_after_its_last_one_on(world):
    file, last = world.file(X0), datetime.date(2021, 1, 9)
    assert "has not ended on 2021-01-09" in world.collect(file, today=last)[0].refused[0]
    assert world.collect(file, today=last + datetime.timedelta(1))[0].taken


def test_what_nobody_foresaw_loses_one_report_only(world, monkeypatch):
    """Nothing of the bad report stays, not even its good rows."""
    known = collect_module.check_row

    def check_row(row, *more):
        if row.entity == "X":
            raise MemoryError
        known(row, *more)

    monkeypatch.setattr(collect_module, "check_row", check_row)
    done = world.collect(world.file(V0, X0, key="V"), world.file(V1, key="V"))
    assert [len(report.taken) for report in done] == [0, 1]
    assert "cannot be taken (MemoryError)" in done[0].refused[0]


# A mailbox.


def test_one_bad_mail_stops_nobody(world):
    """Bombs, pipes, links and names that are no UTF-8, in a process of 1 GB."""
    inbox = world.base / "inbox"
    good = world.file(V0, key="V", name="z.json")
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
    world.file(("C", 0, "4"), key="C").rename(inbox / "\udcfcbersicht.json")
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
    assert "/?bersicht.json: 1 new, 0 known\n" in ran.stdout
    refused = "/?-damaged.json: is damaged", "large.json: is larger than 16 MiB"
    more = "deep.json: is nested", "digits.json: is damaged", "lists-9.json: is not as dpol"
    for told in (*refused, *more, "cut.json: is damaged", "pipe: is not"):
        assert told in ran.stderr
    assert {it["file"] for it in world.lines()[1:]} == {"z.json", "\udcfcbersicht.json"}


# One key per entity.


def test_rows_about_another_hospital_are_refused_and_its_own_taken(world):
    """The attacker repeats rows of the victim, and adds its own; the other way round, too."""
    world.put(V0, key="V")
    done = world.put(V0, X0, ("V", 1, "19"), key="X")
    assert [row[0] for row in done.taken] == ["X"]
    assert f"1 row of V: the report is signed with the key {public('X')}" in done.refused[0]
    assert world.put(V0, V1, key="V").taken
    facts = parts(world.file(V0, V1, V2, key="V")) | {"key": public("V")}
    stolen = signed(world.base / "stolen.json", facts, key="X")
    assert "is not signed by the key that it names" in world.collect(stolen)[0].refused[0]
    assert [it["silent"] for it in decide(world.folder)["outlooks"]] == [2, 0, 1]


def test_messages_about_a_file_are_few(world):
    """25,000 rows about nobody that is known."""
    rows = [[f"x{number}", day(0), "3.000000", "20"] for number in range(25_000)]
    file = rewritten(world.file(X0), rows=rows)
    (done,) = world.collect(file)
    assert len(done.refused) == 21
    assert done.refused[-1].endswith("24,980 more rows or entities are refused")

"""After a loss an export marks periods as released, and nothing of it enters anything (S3)."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

from dpol_weekly.holder.text import describe
from releases import (
    A1,
    A2,
    B1,
    COLUMNS,
    LEDGER,
    ask,
    deployment,
    files,
    newest,
    output,
    own_file,
    parts,
    put,
    record,
    refuse,
    run,
)

A3 = ("A", "2021-01-15", "2")
EXPORT = Path("export.csv")
ONCE = deployment(budget_mu=1.5, corrections=False)


def export(*rows):
    """A coordinator's table: rows (entity, period, noisy count)."""
    with EXPORT.open("w", newline="") as stream:
        csv.writer(stream).writerows([("entity", "period", "noisy_count"), *rows])
    return EXPORT


def lose():
    """The ledger is lost; the releases and the key are there."""
    LEDGER.unlink()


def released():
    return ask("SELECT name, period FROM release ORDER BY number")


def test_what_was_exported_is_never_drawn_again():
    put(A1, B1)
    old = record()["ledger"]
    lose()
    done = put(A1, B1, A2, continue_from=export(A1, B1))
    assert old.items().isdisjoint(record()["ledger"].items())
    assert (done.added, done.skipped, done.marked) == (1, 2, 2)
    assert released() == [A2[:2]]
    assert [(row["entity"], row["period"]) for row in output()] == [A2[:2]]
    assert "2 periods of these entities were released" in parts(newest())["statement.txt"].decode()
    assert put(A1, B1, A2, A3).added == 1  # the lost ledger's file stays where it is
    refuse("2021-01-01: a ledger that is lost released it", A1, B1, A2, correct=[A1[1]])


def test_the_first_answer_says_what_was_marked():
    done = put(A1, A2, continue_from=export(A1, A1))
    assert "1 period marked as released; none of their rows is in" in describe(done, ONCE)[1]
    done = put(A1, A2, ledger="other.sqlite", to=Path("other"), continue_from=export(A1, A2))
    assert describe(done, ONCE)[:2] == [
        "0 rows released; 2 rows skipped, released before.",
        "2 periods marked as released; none of their rows is in this output.",
    ]
    assert done.file is None


def test_a_forged_export_over_a_ledger_changes_no_file():
    """A number of another value, a week that was never released, and one of 2039."""
    put(A1)
    before = files()
    export(("A", A1[1], "77.000001"), ("A", A2[1], "55.000001"))
    refuse("--continue-from: dpol-ledger.sqlite is there", A1, continue_from=EXPORT)
    export(("A", "2039-01-07", "5"))
    refuse("export.csv, line 2: its period is none of", A1, continue_from=EXPORT)
    assert before.items() <= files().items()
    assert files().keys() - before.keys() == {"export.csv"}


def test_no_number_of_an_export_is_anywhere():
    put(A2, continue_from=export(("A", A1[1], "77.123456"), ("Z", "x", "")))
    assert not any(
        b"77.123456" in content for name, content in files().items() if "exp" not in name
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("A", "2021-01-02"), "line 2: its period is none of the deployment d that is over"),
        (("a.", "x"), "line 2: its period"),
        (("A", "20210101"), "line 2: its period"),
        (("A", "2020-12-25"), "line 2: its period"),
    ],
)
def test_a_row_of_no_period_is_refused(row, message):
    refuse(message, A1, continue_from=export(row))
    assert not LEDGER.exists()


def test_a_table_that_is_no_export_is_refused():
    EXPORT.write_text("entity,day\n")
    refuse("export.csv: lacks the column period; ask the coordinator", A1, continue_from=EXPORT)
    EXPORT.write_bytes(b"\xff\xfe")
    refuse("export.csv: is not CSV", A1, continue_from=EXPORT)
    refuse("none.csv: cannot be read", A1, continue_from=Path("none.csv"))


def test_marked_periods_count_toward_the_ceiling():
    """Once for each exported row: a budget for one release of a period has no room for more."""
    done = put(A2, made=ONCE, continue_from=export(A1, A1, A2))
    assert (done.added, done.marked, done.worst.kept) == (0, 2, False)
    assert done.worst.squared_mu == (3 * 0.5**2) / 2
    other = deployment(name="e", budget_mu=9)
    refuse("0.5 is spent, and the deployment d allows 0.53", A2, made=other, to=Path("e"))


def test_rows_of_the_lost_ledger_that_the_export_lacks_are_asked_about():
    put(A1, B1)
    lose()
    message = "holds periods of your entities that the coordinator's table lacks.*export again"
    refuse(message, A1, B1, continue_from=export(A1))
    assert not LEDGER.exists()
    Path("away").mkdir()
    shutil.move(newest(), "away")
    assert put(A1, B1, continue_from=EXPORT).added == 1


def test_a_renamed_entity_is_known_again_after_a_loss():
    put(A2, continue_from=export(A1), own={"entities": {"A": "A"}})
    made = deployment(name="e", entities={"nord": {}})
    refuse("under another name", A1, made=made, own={"entities": {"nord": "A"}}, to=Path("e"))


def test_the_command_goes_on_from_an_export():
    Path("d.yaml").write_text(ONCE.agreement())
    own_file(columns=COLUMNS, entities=["A"])
    Path("counts.csv").write_text("hospital,week,covid,beds\nA,2021-01-01,3,20\n")
    code, out, err = run(
        "privatize", "--agree", ONCE.sha256(), "--continue-from", export(A1), "--json"
    )
    assert (code, '"marked": 1' in out, '"file": null' in out) == (0, True, True), (out, err)

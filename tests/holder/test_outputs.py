"""Outputs and records are views of the ledger; what one knows and the other does not is noticed."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from dpol.core.errors import DataError, OutputError
from dpol_weekly.holder import release as release_module
from dpol_weekly.released import read_report
from releases import (
    A1,
    A2,
    B1,
    LEDGER,
    NOISY,
    RECORD,
    Halted,
    deployment,
    files,
    forge,
    output,
    put,
    record,
    refuse,
)

B2 = ("B", "2021-01-08", "4")


def weeks(path=NOISY):
    return [(row["hospital"], row["week"]) for row in output(path)]


# ---- views ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("refused", [True, False])
@pytest.mark.parametrize(
    "damage",
    [
        lambda: NOISY.write_text(""),
        lambda: NOISY.write_bytes(NOISY.read_bytes()[:-7]),
        lambda: RECORD.write_text(RECORD.read_text().replace('"mu": 0.5', '"mu": 0.1')),
    ],
)
def test_what_is_older_is_written_again_by_any_run(damage, refused):
    """A run whose own rows are refused writes it again, too."""
    put(A2, B1)
    before = files()
    damage()
    if refused:
        refuse("a later one was", A1)
        assert NOISY.read_bytes() == before["noisy.csv"]
        assert RECORD.read_bytes() == before["noisy.csv.guarantee.json"]
    else:
        put(B2)
        assert NOISY.read_bytes().startswith(before["noisy.csv"])
        assert record()["rows"] == 3


def test_what_was_never_written_is_written_without_a_question(monkeypatch):
    """A crash between ledger and files, in a first run and in a later one."""

    def crash(*arguments):
        raise OutputError("no more files")

    for number, row in enumerate((A1, A2), start=1):
        with monkeypatch.context() as broken:
            broken.setattr(release_module, "write_views", crash)
            broken.setattr(release_module, "_up_to_date", lambda *_: False)  # as it is before
            with pytest.raises(OutputError, match="the rows are released"):
                put(row)
        assert NOISY.exists() == (number == 2)
        assert put(row, sampler=Halted()).skipped == 1
        assert record()["rows"] == number


@pytest.mark.parametrize(
    ("damage", "gone"),
    [
        (NOISY.unlink, NOISY),
        (RECORD.unlink, RECORD),
        (lambda: (NOISY.unlink(), RECORD.unlink()), RECORD),
        (lambda: RECORD.write_text("{"), RECORD),
        (lambda: RECORD.write_text("[]"), RECORD),
        (lambda: RECORD.write_text("{}"), RECORD),
        (lambda: RECORD.write_bytes(b"\xff"), RECORD),
        (lambda: RECORD.write_text("[" * 100_000), RECORD),
    ],
)
def test_what_was_written_and_is_gone_is_asked_about(damage, gone):
    """The ledger may be an older copy: only table and record could show that."""
    put(A1, B1)
    before = files()
    damage()
    left = files()
    refuse(f"^{re.escape(str(gone))}: was written once, and is gone.*--write-again", A2)
    assert files() == left
    put(A2, write_again=True)
    assert NOISY.read_bytes().startswith(before["noisy.csv"])
    assert record()["rows"] == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda: NOISY.write_text(NOISY.read_text().replace("A", "C")),
        lambda: NOISY.write_text(NOISY.read_text() + "A,2021-01-08,4,20,0.2,0.5,1\n"),
        lambda: NOISY.write_text(NOISY.read_text().replace("\n", "\r\n")),
    ],
)
def test_a_changed_output_is_not_overwritten_but_written_again_once_it_is_moved(change):
    put(A1)
    whole = NOISY.read_bytes()
    change()
    before = files()
    refuse(r"noisy\.csv: is not what .* move the table away and", A2)
    assert files() == before
    NOISY.rename("changed.csv")
    put(A2, write_again=True)
    assert NOISY.read_bytes().startswith(whole)


def test_temporary_files_of_killed_runs_are_removed():
    stale = [Path(".noisy-ab12_xyz.csv"), Path(".noisy-ab12_xyz.csv.guarantee.json")]
    kept = [Path(".noisy-short.csv"), Path(".other-ab12_xyz.csv"), Path("noisy-ab12_xyz.csv")]
    for file in (*stale, *kept):
        file.write_text("A,2021-01-01,4\n")
    put(A1)
    assert not any(file.exists() for file in stale)
    assert all(file.exists() for file in kept)


# ---- several outputs -----------------------------------------------------------------------------


def test_symbolic_links_do_not_split_a_ledger():
    """Every link leads to the one output and its ledger."""
    put(A1)
    Path("elsewhere").mkdir()
    link, folder_link = Path("elsewhere/link.csv"), Path("to_here")
    link.symlink_to(NOISY.absolute())
    Path("elsewhere/link.csv.guarantee.json").symlink_to(RECORD.absolute())
    folder_link.symlink_to(Path().absolute())
    for name in (link, folder_link / "noisy.csv", "elsewhere/../noisy.csv"):
        assert put(A1, to=name, sampler=Halted()).skipped == 1
    put(A2, to=link)
    assert link.is_symlink()
    assert weeks() == [A1[:2], A2[:2]]
    assert not Path("elsewhere/dpol-ledger.sqlite").exists()
    Path("link.sqlite").symlink_to(LEDGER)
    put(B1, ledger="link.sqlite")
    assert Path("link.sqlite").is_symlink()
    loop = Path("loop.csv")
    loop.symlink_to(loop)
    refuse("symbolic links in a circle", B2, to=loop)


def test_a_moved_output_and_a_moved_folder_are_known_again():
    put(A1)
    NOISY.rename("moved.csv")
    RECORD.rename("moved.csv.guarantee.json")
    put(A2, to="moved.csv")
    assert weeks("moved.csv") == [A1[:2], A2[:2]]
    assert not NOISY.exists()
    Path("new").mkdir()
    for file in ("moved.csv", "moved.csv.guarantee.json", "dpol-ledger.sqlite"):
        Path(file).rename(f"new/{file}")
    put(B1, to="new/moved.csv")
    assert len(weeks("new/moved.csv")) == 3


def test_an_output_under_the_name_of_another_one_is_refused():
    put(A1)
    put(B1, to="b.csv")
    Path("b.csv").rename(NOISY)
    Path("b.csv.guarantee.json").rename(RECORD)
    before = files()
    refuse("its record is that of another output", A2)
    assert files() == before


# ---- a ledger that is missing or older -----------------------------------------------------------

UNKNOWN = "knows of releases that the ledger dpol-ledger.sqlite does not know.*--continue-from"
C1 = ("C", "2021-01-01", "1")


@pytest.mark.parametrize("lose", [LEDGER.unlink, lambda: LEDGER.write_bytes(b"")])
def test_a_lost_ledger_is_noticed(lose):
    put(A1)
    put(B1, to="other.csv")
    lose()
    for options in ({}, {"write_again": True}):
        for name in (NOISY, "other.csv", "new.csv"):
            refuse(UNKNOWN, A2, to=name, **options)


def test_an_older_copy_of_the_ledger_is_noticed_by_any_record():
    put(A1)
    put(B1, to="b.csv")
    shutil.copy(LEDGER, "backup")
    put(A2)
    put(C1, to="new.csv")
    newer = LEDGER.read_bytes()
    shutil.copy("backup", LEDGER)
    for name in ("noisy.csv", "b.csv", "new.csv", "unknown.csv"):
        refuse(UNKNOWN, B2, to=name)
    # The newer one put back, all is well.
    LEDGER.write_bytes(newer)
    put(B2, to="b.csv")


def test_an_output_of_another_ledger_is_noticed():
    put(A1, ledger="one.sqlite")
    put(B1, to="sub/b.csv", ledger="sub/two.sqlite")
    message = r"noisy\.csv\.guarantee\.json: knows of releases that the"
    refuse(message, A2, ledger="sub/two.sqlite")
    put(A2, ledger="one.sqlite")


@pytest.mark.parametrize("removed", [(), [NOISY], [RECORD]])
def test_what_no_ledger_released_is_neither_taken_in_nor_overwritten(removed):
    """Such as another file: its record names no ledger."""
    put(A1)
    LEDGER.unlink()
    forge(ledger={})
    for file in removed:
        file.unlink()
    before = files()
    for options in ({}, {"write_again": True}):
        refuse(r"noisy\.csv: exists already, and is not known", A2, **options)
    assert files() == before


# ---- what a receiver notices ---------------------------------------------------------------------


def leaves(value, path=()):
    """Paths to all that a record states, except the checksum."""
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [leaf for key, it in items for leaf in leaves(it, (*path, key))]
    return [] if path == ("sha256",) else [path]


def test_whatever_is_changed_in_a_record_is_noticed():
    """Any number, text or truth value of it, and any part that is left out."""
    made = deployment(noise={"memory": "designed"})
    put(A1, A2, B1, made=made)
    whole, tried = RECORD.read_text(), 0
    for path in leaves(json.loads(whole)):
        for cut in (False, True):
            changed = inner = json.loads(whole)
            for key in path[:-1]:
                inner = inner[key]
            value = inner.pop(path[-1])
            if not cut and isinstance(inner, dict):
                inner[path[-1]] = not value if isinstance(value, bool) else f"{value}1"
            RECORD.write_text(json.dumps(changed))
            with pytest.raises(DataError, match=r"noisy\.csv"):
                read_report(NOISY, made, made.sha256())
            tried += 1
    assert tried > 60
    RECORD.write_text(whole)
    assert [row.place for row in read_report(NOISY, made, made.sha256()).rows] == [1, 1, 2]

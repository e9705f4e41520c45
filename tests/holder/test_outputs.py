"""Outputs and records are views of the ledger; what one knows and the other does not is noticed."""

from __future__ import annotations

import json
import re
import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from dpol.core.errors import OutputError
from dpol_weekly.holder import release as release_module
from dpol_weekly.memory import Memory
from dpol_weekly.noise import CountNoise
from dpol_weekly.holder.request import CountColumns
from releases import (
    A1,
    A2,
    B1,
    HALF,
    LEDGER,
    NOISY,
    RECORD,
    TWICE,
    ask,
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
    put(A1, B1)
    before = files()
    damage()
    if refused:
        refuse("was not up to date and was written again", A1, append=True)
        assert NOISY.read_bytes() == before["noisy.csv"]
        assert RECORD.read_bytes() == before["noisy.csv.guarantee.json"]
    else:
        put(A2, append=True)
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
                put(row, append=True)
        assert NOISY.exists() == (number == 2)
        refuse(f"{TWICE}.* was written again", row, append=True)
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
    for options in ({}, {"append": True}, {"again": True}, {"forget_ledger": True}):
        refuse(
            f"^{re.escape(str(gone))}: was written once, and is gone.*--write-again", A2, **options
        )
    assert files() == left
    put(A2, append=True, write_again=True)
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
    for options in ({}, {"append": True}, {"again": True}):
        refuse(r"noisy\.csv: is not what .* move the table away and", A2, **options)
    assert files() == before
    NOISY.rename("changed.csv")
    put(A2, append=True, write_again=True)
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


def test_another_output_of_the_ledger_is_noticed():
    put(A1)
    refuse(
        r"line 2: noisy\.csv \(another output of this ledger\) holds this entity", A1, to="b.csv"
    )
    put(A1, to="b.csv", again=True)
    assert record("b.csv.guarantee.json")["mu"] == 0.5
    assert record("b.csv.guarantee.json")["mu_over_all_outputs"] == pytest.approx(0.5**0.5)
    put(A2, append=True)
    assert record()["mu_over_all_outputs"] == pytest.approx(0.5**0.5)


def test_one_ledger_serves_outputs_in_several_folders():
    put(A1, ledger="home/all.sqlite")
    refuse(
        r"\.\./noisy\.csv \(another output of this ledger\)",
        A1,
        to="sub/b.csv",
        ledger="home/all.sqlite",
    )
    assert not LEDGER.exists()


def test_symbolic_links_do_not_split_a_ledger():
    """Every link leads to the one output and its ledger."""
    put(A1)
    Path("elsewhere").mkdir()
    link, folder_link = Path("elsewhere/link.csv"), Path("to_here")
    link.symlink_to(NOISY.absolute())
    Path("elsewhere/link.csv.guarantee.json").symlink_to(RECORD.absolute())
    folder_link.symlink_to(Path().absolute())
    for name in (link, folder_link / "noisy.csv", "elsewhere/../noisy.csv"):
        refuse(TWICE, A1, to=name, append=True)
    put(A2, to=link, append=True)
    assert link.is_symlink()
    assert weeks() == [A1[:2], A2[:2]]
    assert not Path("elsewhere/dpol-ledger.sqlite").exists()
    Path("link.sqlite").symlink_to(LEDGER)
    put(B1, ledger="link.sqlite", append=True)
    assert Path("link.sqlite").is_symlink()
    loop = Path("loop.csv")
    loop.symlink_to(loop)
    refuse("symbolic links in a circle", B2, to=loop)


def test_a_moved_output_and_a_moved_folder_are_known_again():
    put(A1)
    NOISY.rename("moved.csv")
    RECORD.rename("moved.csv.guarantee.json")
    put(A2, to="moved.csv", append=True)
    assert weeks("moved.csv") == [A1[:2], A2[:2]]
    assert not NOISY.exists()
    Path("new").mkdir()
    for file in ("moved.csv", "moved.csv.guarantee.json", "dpol-ledger.sqlite"):
        Path(file).rename(f"new/{file}")
    put(B1, to="new/moved.csv", append=True)
    assert len(weeks("new/moved.csv")) == 3


def test_an_output_under_the_name_of_another_one_is_refused():
    put(A1)
    put(B1, to="b.csv")
    Path("b.csv").rename(NOISY)
    Path("b.csv.guarantee.json").rename(RECORD)
    before = files()
    refuse("its record is that of another output", A2, append=True)
    assert files() == before


# ---- a ledger that is missing or older -----------------------------------------------------------

UNKNOWN = "knows of releases that the ledger dpol-ledger.sqlite does not know.*--forget-ledger"


@pytest.mark.parametrize("lose", [LEDGER.unlink, lambda: LEDGER.write_bytes(b"")])
def test_a_lost_ledger_is_noticed_and_the_output_kept_if_told(lose):
    put(A1, B1, noise=HALF)
    put(B1, to="other.csv", again=True)
    whole = NOISY.read_bytes()
    lose()
    for options in ({}, {"append": True}, {"again": True}):
        for name in (NOISY, "other.csv", "new.csv"):
            refuse(UNKNOWN, A2, to=name, **options)
    refuse(TWICE, A1, forget_ledger=True)
    put(A2, append=True, forget_ledger=True)
    assert NOISY.read_bytes().startswith(whole)
    assert [run["imported"] for run in record()["releases"]] == [True, False]
    # Each other output is taken in when it is named, and counts from then on.
    refuse(UNKNOWN, B2, to="other.csv", append=True)
    put(B2, to="other.csv", append=True, forget_ledger=True)
    assert record("other.csv.guarantee.json")["mu_over_all_outputs"] == pytest.approx(0.5**0.5)


def test_a_ledger_that_is_forgotten_needs_the_output_as_it_was():
    put(A1)
    LEDGER.unlink()
    NOISY.write_text(NOISY.read_text().replace("A", "C"))
    refuse("does not fit noisy.csv.guarantee.json", A2, append=True, forget_ledger=True)
    NOISY.unlink()
    refuse("is gone, but noisy.csv.guarantee.json says", A2, append=True, forget_ledger=True)
    assert not LEDGER.exists()


def test_an_older_copy_of_the_ledger_is_noticed_by_any_record():
    put(A1)
    put(B1, to="b.csv")
    shutil.copy(LEDGER, "backup")
    put(A2, append=True)
    put(("C", "2021-01-01", "1"), to="new.csv")
    newer = {name: Path(name).read_bytes() for name in ("noisy.csv", "dpol-ledger.sqlite")}
    shutil.copy("backup", LEDGER)
    for name in ("noisy.csv", "b.csv", "new.csv", "unknown.csv"):
        refuse(UNKNOWN, B2, to=name, append=True)
    # The newer one put back, all is well.
    LEDGER.write_bytes(newer["dpol-ledger.sqlite"])
    put(B2, to="b.csv", append=True)
    # The older one for good: what the output has in addition is taken in.
    shutil.copy("backup", LEDGER)
    refuse(TWICE, A2, append=True, forget_ledger=True)
    assert NOISY.read_bytes() == newer["noisy.csv"]
    assert ask("SELECT COUNT(*) FROM release") == [(3,)]


def test_a_ledger_that_went_another_way_is_noticed():
    """Restored, used while the output was away as if it were the newest, then given it back."""
    put(A1)
    shutil.copy(LEDGER, "backup")
    put(A2, append=True)
    away = {name: name.read_bytes() for name in (NOISY, RECORD)}
    for name in away:
        name.unlink()
    shutil.copy("backup", LEDGER)
    put(("A", "2021-01-15", "2"), append=True, write_again=True)
    for name, content in away.items():
        name.write_bytes(content)
    for options in ({"append": True}, {"again": True}, {}):
        refuse(UNKNOWN, A2, **options)
    refuse(
        "begins with other rows.*released twice.*--continue", A2, append=True, forget_ledger=True
    )


def test_an_output_of_another_ledger_is_noticed():
    put(A1, ledger="one.sqlite")
    put(B1, to="sub/b.csv", ledger="two.sqlite", forget_ledger=True)
    refuse(
        r"noisy\.csv\.guarantee\.json: knows of releases that the",
        A2,
        append=True,
        ledger="two.sqlite",
    )
    put(A2, append=True, ledger="one.sqlite")


# ---- what a forgotten ledger had, taken in from the output ---------------------------------------


def test_an_output_without_capacity_is_taken_in():
    columns = CountColumns("hospital", "week", "covid")
    put(A1, columns=columns)
    whole = NOISY.read_bytes()
    LEDGER.unlink()
    put(A2, append=True, forget_ledger=True, columns=columns)
    assert NOISY.read_bytes().startswith(whole)
    assert [record()[key] for key in ("rows", "sampler")] == [2, "seeded"]


def test_names_that_are_much_alike_are_asked_about():
    week = "2021-01-01"
    put(("050002", week, "3"), ("50002", week, "4"), new_entity=True)
    LEDGER.unlink()
    asked = r"line 3: the name differs from the one on line 2"
    refuse(asked, A2, append=True, forget_ledger=True)
    put(A2, append=True, forget_ledger=True, same_entity=True)
    assert record()["mu"] == pytest.approx(0.5**0.5)


ENDS = "0.141421,-0.0772,0.4772"


def test_a_forged_row_without_a_fault_is_taken_in():
    """The forged rows below are thus refused for their faults."""
    put(A1)
    LEDGER.unlink()
    forge(NOISY.read_text() + f"A,2021-01-08,4,20,0.2,0.5,1,{ENDS}\n")
    assert put(B1, append=True, forget_ledger=True).rows == 3


@pytest.mark.parametrize(
    "forged",
    [
        "",
        "\n",
        "A",
        'A,2021-01-08,"4',
        "A,2021-01-08,4,20,0.2,0.5,1",
        f"A,2021-01-08,4,20,0.2,0.5,1,{ENDS},1",
        f"A,yesterday,4,20,0.2,0.5,1,{ENDS}",
        *(f"A,2021-01-08,4,20,0.2,{mu},1,{ENDS}" for mu in ("", "x", "0", "-1", "nan", "inf")),
        f"A,2021-01-08,4,20,0.2,1e999999999,1,{ENDS}",
        f"A,2021-01-08,4,20,0.2,0.5,x,{ENDS}",
        f"A,2021-01-08,4,20,0.2,0.5,2,{ENDS}",
        *(f"A,2021-01-08,4,20,0.2,0.5,1,{sd},0.0,0.4" for sd in ("0", "-1", "x", "nan", "inf")),
        "A,2021-01-08,4,20,0.2,0.5,1,0.141421,-0.0772,0.4773",
        "A,2021-01-08,4,20,0.2,0.5,1,0.1,0.0040,0.3960",  # the noise of another mu
    ],
)
def test_a_forged_output_with_a_forged_record_is_noticed(forged):
    put(A1)
    LEDGER.unlink()
    forge(NOISY.read_text() + forged + "\n" if forged else "")
    before = files()
    refuse(re.escape("noisy.csv: does not fit"), A2, append=True, forget_ledger=True)
    assert files() == before


def leaves(value, path=()):
    """Paths to all that a record states, except the checksum."""
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [leaf for key, it in items for leaf in leaves(it, (*path, key))]
    return [] if path == ("sha256",) else [path]


def test_whatever_is_changed_in_a_record_is_noticed():
    """Any number, text or truth value of it, and any part that is left out."""
    put(A1, A2, B1, memory=Memory((Decimal("0.2"), Decimal("0.6"))))
    LEDGER.unlink()
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
            refuse("does not fit|is not known", A2, append=True, forget_ledger=True)
            tried += 1
    assert tried > 60
    RECORD.write_text(whole)
    put(("A", "2021-01-15", "4"), append=True, forget_ledger=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda chains: [],
        lambda chains: chains[1:],
        lambda chains: [*chains, {}],
        lambda chains: "lost",
        *(
            lambda chains, it=it: [chains[0] | it, *chains[1:]]
            for it in (
                *({"b": 0.5}, {"b": 0.99}, {"b": "x"}, {"a": 0.3}, {"scale": 1}, {"decimals": 5}),
                *({"releases": 1}, {"releases": True}, {"releases": 3}, {"first_row": 99}),
                *({"first_row": 2}, {"unit_weeks": 2}, {"chain_periods": 100}),
            )
        ),
    ],
)
def test_a_record_whose_chains_are_not_those_of_its_rows_is_refused(change):
    """The checksum fits; the noise that the rows state does not."""
    put(A1, A2, B1, memory=Memory((Decimal("0.2"), Decimal("0.6"))))
    LEDGER.unlink()
    forge(chains=change(record()["chains"]))
    refuse(re.escape("noisy.csv: does not fit"), B2, append=True, forget_ledger=True)


def test_rows_that_are_taken_in_count_with_the_mu_of_today_at_least():
    """The people who return a table may have written any mu into it."""
    put(A1, B1, noise=CountNoise(Decimal("0.001")))
    LEDGER.unlink()
    options = {"again": True, "change_noise": True, "forget_ledger": True}
    assert put(A1, **options).guarantee.mu == pytest.approx(0.5**0.5)
    assert ask("SELECT DISTINCT mu FROM release") == [("0.001",), ("0.5",)]
    put(A1, noise=CountNoise(Decimal(1)), to="b.csv", again=True, change_noise=True)
    assert record("b.csv.guarantee.json")["mu_over_all_outputs"] == pytest.approx(1.5**0.5)


@pytest.mark.parametrize("removed", [(), [NOISY], [RECORD]])
def test_what_no_ledger_released_is_neither_taken_in_nor_overwritten(removed):
    """Such as another file, or an output of a dpol that had no ledger: its record names none."""
    put(A1)
    LEDGER.unlink()
    forge(ledger={})
    for file in removed:
        file.unlink()
    before = files()
    for options in ({}, {"append": True}, {"again": True}, {"forget_ledger": True}):
        refuse(r"noisy\.csv: exists already, and is not known", A2, **options)
    assert files() == before

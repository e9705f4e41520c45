"""A release that is killed, or fails, wherever it changes a file."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from dpol.core.errors import DpolError
from dpol_weekly.holder.release import release
from dpol_weekly.holder.request import Request
from dpol_weekly.keys import make_key, make_secret
from dpol_weekly.released.read import read_release
from faults import in_child
from releases import ask, deployment, hospital, newest, output

ROWS, CANARY = 10, "86420.97531"
WEEKS = "2024-01-07", "2024-02-04", "2024-03-03"
HELD = "held already"
FILE = re.compile(r"dpol\.(key|secret)|dpol-ledger\.sqlite|noisy/(d-2024-..-..|\..*)\.json")
MADE = deployment(
    periods={"first": "2024-01-07"},
    entities={f"h{i}": {} for i in range(ROWS)},
)
FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None


def release_week(week):
    """Release one week of ten hospitals; `released`, `HELD` if it was before, or the message."""
    own = hospital(MADE, Path("..", week))
    request = Request(hospital=own, deployment=MADE, agree=MADE.sha256(), in_person=True)
    try:
        return "released" if release(request).added else HELD
    except DpolError as error:
        return str(error)


def files():
    return [file for file in Path().rglob("*") if file.is_file()]


def wrong_after(said, before):
    """Faults of the files and answers after a faulty run, and after two undisturbed ones."""
    wrong = [
        file.name
        for file in Path().rglob("*.*")
        if file.is_file() and CANARY.encode() in file.read_bytes()
    ]
    again = release_week(WEEKS[1])
    if again not in ("released", HELD):
        wrong.append(f"bricked: {again}")
    if (said == "released" or "rows are released" in said) and again != HELD:
        wrong.append("said to be released, and released again")
    if "traceback" in said:
        wrong.append(said)
    wrong += wrong_files()
    if (next_week := release_week(WEEKS[2])) != "released":
        wrong.append(f"the next week is refused: {next_week}")
    times = ask("SELECT COUNT(*) FROM release GROUP BY entity, period")
    if times != [(1,)] * (before + 2 * ROWS):
        wrong.append(f"{len(times)} rows, or a period was released twice")
    return wrong + wrong_files()


def wrong_files():
    """Faults of the files: table and record fit the ledger."""
    wrong = [str(file) for file in files() if not FILE.fullmatch(str(file))]
    ledger = ask("SELECT name, period, noisy_count FROM release ORDER BY number")
    if [(row["entity"], row["period"], row["noisy_count"]) for row in output()] != ledger:
        wrong.append("table and ledger differ")
    read_release(newest())
    return wrong


def outcomes(before):
    """The answer to each fault of a first release, or of a later one, and what is wrong then."""
    rows = "".join(f"h{i},WEEK,{CANARY},99999\n" for i in range(ROWS))
    with tempfile.TemporaryDirectory(dir=FAST) as folder, pytest.MonkeyPatch.context() as patch:
        template, case = Path(folder, "template"), Path(folder, "case")
        template.mkdir()
        for week in WEEKS:
            Path(folder, week).write_text("hospital,week,covid,beds\n" + rows.replace("WEEK", week))
        patch.chdir(template)
        make_key(Path("dpol.key"))
        make_secret(Path("dpol.secret"))
        if before:
            assert release_week(WEEKS[0]) == "released"

        def outcome(how=None, k=0):
            shutil.copytree(template, case)
            patch.chdir(case)
            said, changes = in_child(lambda: release_week(WEEKS[1]), how, k)
            sizes = [file.stat().st_size for file in files()]
            wrong = wrong_after(said, before)
            patch.chdir(template)
            shutil.rmtree(case)
            return said, wrong, changes, max(sizes, default=0)

        _, wrong, changes, size = outcome()
        assert not wrong
        rooms = [*range(300, 4096, 1300), *range(5000, size, 25000)]
        faults = [(how, k) for how in ("full", "cut") for k in rooms]
        faults += [(how, k + 1) for how in ("kill", "fail") for k in range(changes)]
        for how, k in faults:
            said, wrong, *_ = outcome(how, k)
            yield how, k, said, wrong


@pytest.mark.parametrize("before", [0, ROWS])
def test_no_fault_bricks_a_ledger_or_releases_a_period_twice(before):
    """Afterwards the command succeeds, or says that the rows are released; so does the next."""
    seen = list(outcomes(before))
    assert [fault for fault in seen if fault[-1]] == []
    # The faults were there, and of all kinds.
    kinds = Counter("killed" if said == "killed" else "released" in said for _, _, said, _ in seen)
    assert min(kinds["killed"], kinds[True], kinds[False]) >= 5

"""Ways to get a table, a figure or a page of other numbers: none leads to one.

A call that ends with status 0 leaves the files of a fresh run. Any other leaves the files that were
there before, unless its jobs had begun; then it may leave some out.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pipeline import (
    COPY,
    TEST,
    call_copy,
    copy_code,
    copy_results,
    run,
    succeed,
    write_config,
    write_table,
    written_as_before,
)

CONFIG = TEST | {"replicates": 100}  # a whole block of them, which more replicates leave as it is
CODE = "src/dpol/noise/noises.py", "math.sqrt(2.0) * stream", "math.sqrt(3.0) * stream"
TABLE = "table.csv.gz"
RUN = "results/test"
SUMMARY, SCORES = f"{RUN}/summary.parquet", f"{RUN}/games/A/mu-1/local/0-99/scores.parquet"
LOGS = {
    "clean_stream": "clean_stream/A",
    "games_point": "games/A/mu-1/local/0-99",
    "league_point": "league/standings",
}
"""Logs of jobs with wildcards."""
KILLED = "clean_stream", "games_point", "games_results", "league_point", "games_shown"
PARTS = "*.parquet", "tables/*", "figures/*.svg", "report/*"
"""What shows numbers."""
ANSWER = "An attacker who knows all else is right about one person in one week at most"

pytestmark = pytest.mark.workflow


def start(folder: Path, *flags: str) -> subprocess.Popen[str]:
    """Start a call in a group of processes of its own."""
    return subprocess.Popen(
        [*COPY, *flags],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def shown(folder: Path) -> dict[str, bytes]:
    base = folder / RUN
    files = {file for part in PARTS for file in base.glob(part) if file.is_file()}
    return {str(file.relative_to(base)): file.read_bytes() for file in files}


# ---- other numbers ----


def configure(folder: Path, **changes: Any) -> None:
    source = {"kind": "local", "file": TABLE, "simulated": True}
    write_config(folder, CONFIG, **{"dataset": {**CONFIG["dataset"], "source": source}, **changes})


def other_table(folder: Path) -> None:
    """Write another table, and keep the time of the one before."""
    with written_as_before(folder / TABLE):
        write_table(folder, {"A": 5}, 2)


def edit_code(folder: Path) -> None:
    name, old, new = CODE
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))


OTHERS: dict[str, Callable[[Path], None]] = {
    "seed": lambda folder: configure(folder, seed=2),
    "level": lambda folder: configure(folder, privacy={"levels": [1, 0.5]}),
    "code": edit_code,
    "table": other_table,
    "number of replicates": lambda folder: configure(folder, replicates=200),
}
"""What changes the numbers of a run."""


def same(folder: Path) -> None:
    """Change nothing."""


# ---- what may hide it ----


def without_records(folder: Path) -> None:
    shutil.rmtree(folder / ".snakemake")


def without_notes(folder: Path) -> None:
    shutil.rmtree(folder / RUN / "logs")


def damaged_note(folder: Path) -> None:
    (folder / RUN / "logs/games_results.json").write_text("{")


def from_the_future(folder: Path) -> None:
    for file in (folder / "results").rglob("*.parquet"):
        os.utime(file, (4e9, 4e9))


def by_hand(name: str, *, keep_time: bool) -> Callable[[Path], None]:
    """Return a change of one byte of a file, or of the last character of a text."""

    def change(folder: Path) -> None:
        file = folder / name
        before, content = file.stat(), bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
        if keep_time:
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    return change


@dataclass(frozen=True, kw_only=True)
class Way:
    """A way to get other numbers, after a finished run.

    Args:
        other: what changes the numbers of the run, a key of `OTHERS`; empty for nothing.
        hide: what may hide this from Snakemake.
        flags: flags of the call.
        ends: whether the call ends with status 0; None if either is right.
        says: a part of what it says.
    """

    other: str = ""
    hide: tuple[Callable[[Path], None], ...] = ()
    flags: str = ""
    ends: bool = False
    says: str = ""


UNTOLD = "not as this config asks"
CHANGED = "changed since the jobs wrote them: "
HIDDEN = (
    ("no .snakemake", (without_records,), ""),
    ("touched", (), "--touch"),
    ("copied", (copy_results,), ""),
    ("by times only", (), "--rerun-triggers mtime"),
    ("the page only", (), "--allowed-rules render_report"),
    ("tables only", (), "--allowed-rules games_shown"),
    ("the executor that touches", (), "--executor touch"),
    ("the report of Snakemake", (), "--report report.zip"),
    ("no hooks", (without_records,), "--no-hooks"),
    ("no .snakemake, the page is asked for", (without_records,), f"{RUN}/report/index.html"),
    ("no .snakemake, the page is forced", (without_records,), "--forcerun render_report"),
)
"""What keeps Snakemake from seeing a change, or from acting on it."""
WAYS = {
    **{f"another {it}": Way(other=it, ends=True) for it in OTHERS},
    "another seed, old times": Way(other="seed", hide=(from_the_future,), ends=True),
    **{
        f"another {it}, {name}": Way(other=it, hide=hide, flags=flags, says=UNTOLD)
        for it in OTHERS
        for name, hide, flags in (HIDDEN if it == "seed" else HIDDEN[:2])
    },
    "another table, touched streams": Way(other="table", flags="--touch streams", says=UNTOLD),
    "another seed, no .snakemake, all is forced": Way(
        other="seed", hide=(without_records,), flags="--forceall", ends=True
    ),
    # Notes are gone, which prove what ran.
    "no notes": Way(hide=(without_notes,), says=UNTOLD),
    "a damaged note": Way(hide=(damaged_note, without_records), says=UNTOLD),
    # Files were changed by hand.
    **{
        f"{name} by hand{', with its time' if keep else ''}": Way(
            hide=(by_hand(f"{RUN}/{name}", keep_time=keep),), says=CHANGED
        )
        for name in (
            *("summary.parquet", "streams/A.parquet", "games/A/mu-1/local/0-99/scores.parquet"),
            *("tables/league.csv", "report/index.html"),
        )
        for keep in (True, False)
    },
    "a result by hand, then touched": Way(
        hide=(by_hand(SUMMARY, keep_time=True),), flags="--touch", says=CHANGED
    ),
    "a result by hand, no .snakemake": Way(
        hide=(by_hand(SUMMARY, keep_time=True), without_records), says=CHANGED
    ),
    "a result by hand, the page is forced": Way(
        hide=(by_hand(SCORES, keep_time=True),), flags="--forcerun render_report", says=CHANGED
    ),
    # Nothing is wrong.
    "nothing": Way(ends=True, says="Nothing to be done"),
    "nothing, copied": Way(hide=(copy_results,), ends=True, says="Nothing to be done"),
    "nothing, touched": Way(flags="--touch", ends=True, says=ANSWER),
}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the folder of a fresh run of `CONFIG` with another thing, to be copied."""
    made = dict[str, Path]()

    def of(other: str) -> Path:
        if other not in made:
            folder = made[other] = tmp_path_factory.mktemp(other or "first")
            copy_code(folder)
            configure(folder)
            write_table(folder, {"A": 5}, 1)
            OTHERS.get(other, same)(folder)
            assert ANSWER in succeed(call_copy(folder))
        return made[other]

    return of


@pytest.fixture
def folder(fresh: Callable[[str], Path], tmp_path: Path) -> Path:
    return shutil.copytree(fresh(""), tmp_path / "copy")


@pytest.mark.parametrize("way", WAYS.values(), ids=[*WAYS])
def test_no_call_shows_other_numbers(way: Way, folder: Path, fresh: Callable[[str], Path]) -> None:
    for hide in way.hide:
        hide(folder)
    OTHERS.get(way.other, same)(folder)
    before = shown(folder)
    done = call_copy(folder, *way.flags.split())
    said = done.stdout + done.stderr
    assert (done.returncode == 0) == way.ends, said
    assert way.says in said
    assert shown(folder) == (shown(fresh(way.other)) if way.ends else before)
    assert (ANSWER in said) == way.ends
    assert "Traceback" not in said


def started(rule: str, folder: Path, *flags: str) -> subprocess.Popen[str]:
    """Start a call, and return as soon as a job of a rule has begun."""
    log, began = folder / RUN / f"logs/{LOGS.get(rule, rule)}.log", time.time()
    process = start(folder, *flags)
    while process.poll() is None and not begun_after(log, began):
        time.sleep(0.02)
    return process


def begun_after(log: Path, time: float) -> bool:
    """Whether a job wrote its log; Snakemake removes the one before."""
    with suppress(FileNotFoundError):
        return log.stat().st_mtime > time
    return False


@pytest.mark.parametrize(
    ("other", "rule"),
    [
        ("seed", "games_point"),
        ("level", "clean_stream"),
        ("code", "games_shown"),
        ("table", "clean_stream"),
    ],
)
def test_a_change_during_a_call_shows_in_no_file_beside_the_former(
    other: str, rule: str, folder: Path, fresh: Callable[[str], Path]
) -> None:
    """Whatever a call leaves beside a page is of the run before, or of that of the change."""
    process = started(rule, folder, "--forceall")
    OTHERS[other](folder)
    process.communicate()
    former, later = shown(fresh("")), shown(fresh(other))
    left = shown(folder)
    assert left in (former, later) or "report/index.html" not in left
    done = call_copy(folder)
    assert done.returncode or shown(folder) == later, done.stderr


LOOKS: tuple[Callable[[Path], object], ...] = (
    lambda folder: run("chmod", "-R", "go-w", "results", "src", "table.csv.gz", folder=folder),
    lambda folder: call_copy(folder, "--dry-run"),
    lambda folder: run("cp", "-al", "results", "linked", folder=folder),
    lambda folder: call_copy(folder, "--list"),
    lambda folder: run("find", "results", "src", "-exec", "touch", "{}", "+", folder=folder),
    lambda folder: call_copy(folder),  # which is refused
)
"""What changes times or rights in the folder of a run, and no content."""


def test_a_call_goes_on_while_somebody_looks(folder: Path, fresh: Callable[[str], Path]) -> None:
    call, looks = start(folder, "--forceall"), itertools.cycle(LOOKS)
    while call.poll() is None:
        next(looks)(folder)
    _, said = call.communicate()
    assert call.returncode == 0, said
    assert shown(folder) == shown(fresh(""))


def test_two_calls_in_a_folder_are_one(folder: Path, fresh: Callable[[str], Path]) -> None:
    OTHERS["seed"](folder)
    process = start(folder)
    while process.poll() is None and not [*(folder / ".snakemake/locks").glob("*")]:
        time.sleep(0.02)
    second = call_copy(folder)
    assert "another run is at work in this folder" in second.stderr
    assert second.returncode
    process.communicate()
    assert process.returncode == 0
    assert shown(folder) == shown(fresh("seed"))


def test_two_calls_from_two_folders_show_one_run(
    folder: Path, tmp_path: Path, fresh: Callable[[str], Path]
) -> None:
    """They share results, and have other seeds."""
    beside = shutil.copytree(fresh("seed"), tmp_path / "beside")
    shutil.rmtree(beside / "results")
    (beside / "results").symlink_to(folder / "results")
    calls = [start(it, "--forceall") for it in (folder, beside)]
    for it in calls:
        it.communicate()
    runs = [shown(fresh("")), shown(fresh("seed"))]
    left = shown(folder)
    assert left in runs or "report/index.html" not in left
    for it, expected in zip((folder, beside), runs, strict=True):
        if not call_copy(it, "--forceall").returncode:
            assert shown(folder) == expected


@pytest.mark.parametrize("rule", KILLED)
def test_a_killed_call_leaves_no_page_and_goes_on_with_the_jobs_that_are_missing(
    rule: str, fresh: Callable[[str], Path], folder: Path
) -> None:
    OTHERS["table"](folder)
    began = time.time()
    process = started(rule, folder)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert "report/index.html" not in shown(folder)
    notes = {it: it.stat().st_mtime for it in (folder / RUN / "logs").rglob("*.json")}
    done = {it for it, ended in notes.items() if ended > began and json.loads(it.read_text())}
    assert "--unlock" in call_copy(folder).stderr
    succeed(call_copy(folder, "--unlock"))
    succeed(call_copy(folder))
    assert shown(folder) == shown(fresh("table"))
    again = {it.name for it in done if it.stat().st_mtime != notes[it]}
    # Snakemake does not know of a job that ended just before the call was killed.
    assert len(again) <= 1
    assert not list((folder / RUN).rglob(".*~*"))

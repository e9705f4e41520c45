"""Weekly commands that are killed, one process each; started by test_kill.py with faults.c loaded.

Prints one JSON line per kill: where it was, and what is wrong at once or after the same command
was run again.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import sqlite3
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import dpol.core.files
import dpol_weekly.coordinator.log
import dpol_weekly.holder.views
from dpol.cli import main
from dpol_weekly.deployment import read_deployment
from dpol_weekly.released import checksum
from holder.fault_runner import in_child
from weekly import agreed, day

HOLDERS = "A", "B", "C"
KILLS = 0, -1  # before a call, or when half of its bytes are written
WEEKS = 2


def run(arguments):
    """The answer of a command: its exit code and its error messages."""
    told = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(told):
        return main(arguments), told.getvalue()


def commands(week):
    """Commands of a week, in this order: (who runs it, arguments)."""
    agreement = "--deployment", "agreed.yaml"
    tables = [f"{name}/noisy.csv" for name in HOLDERS]
    for name, table in zip(HOLDERS, tables, strict=True):
        own = "--output", table, "--entity-id", name
        confirmed = "--agree", read_deployment("agreed.yaml").sha256()
        yield "privatize", ["privatize", f"{name}/counts.csv", *own, *agreement, *confirmed]
    yield "collect", ["collect", *tables, "--into", "state", *agreement]
    yield "decide", ["decide", "state", "--period", day(week + 1)]


def visible():
    """Files in the current folder and their bytes; of databases the rows. Hidden ones are left by
    kills, and nobody reads them."""
    paths = sorted(path for path in Path().rglob("[!.]*") if path.is_file())
    return {str(path): rows(path) or path.read_bytes() for path in paths}


def rows(path):
    """All rows of a database, without the time of day; None for another file."""
    if path.suffix != ".sqlite":
        return None
    with closing(sqlite3.connect(path)) as base:
        tables = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        found = {}
        for (table,) in tables:
            cursor = base.execute(f"SELECT * FROM {table} ORDER BY rowid")
            names = [it[0] for it in cursor.description]
            found[table] = [
                [cell for name, cell in zip(names, row, strict=True) if name != "received"]
                for row in cursor
            ]
        return found


def at_once(before, after):
    """Files that are neither as before nor as after, when a run was killed.

    Databases are not opened: that would repair them.
    """
    seen = {str(it): it.read_bytes() for it in Path().rglob("[!.]*") if it.is_file()}
    return [
        f"{name} is half written"
        for name, content in seen.items()
        if ".sqlite" not in name and content not in (before.get(name), after.get(name))
    ]


def released(holder):
    """Faults in a holder's release; noise differs in every run."""
    ledger = rows(holder / "dpol-ledger.sqlite")["release"]
    table = (holder / "noisy.csv").read_text().splitlines()[1:]
    periods = [line.split(",")[1] for line in table]
    counts = [line.split(",")[2] for line in table]
    wrong = [] if len(set(periods)) == len(periods) else ["a period was released twice"]
    held = [any(count in map(str, row) for row in ledger) for count in counts]
    if len(ledger) != len(table) or not all(held):
        wrong.append("table and ledger differ")
    record = json.loads((holder / "noisy.csv.guarantee.json").read_text())
    same = record["sha256"] == checksum((holder / "noisy.csv").read_bytes(), record)
    return wrong + ([] if same else ["record differs"])


def killed(template, who, arguments, after, k, how):
    """Faults after a command was killed at its k-th call, and after it was run again."""
    put(template, Path())
    before = visible()
    holder = Path(arguments[1]).parent
    if in_child(Path().resolve(), lambda: run(arguments), k, how)[0] != "killed":
        return ["was not killed"]
    wrong = []
    if who == "privatize":  # committed rows are those that a copy shows: opening repairs it
        put(Path(), copy := Path("..", "seen").resolve())
        kept = rows(copy / holder / "dpol-ledger.sqlite") or {} if has(copy / holder) else {}
    else:
        wrong = at_once(before, after)
    code, told = run(arguments)
    if code:
        return [*wrong, told]
    now = visible()
    if who != "privatize":
        return wrong + [
            f"{it} differs" for it in now.keys() | after if now.get(it) != after.get(it)
        ]
    if now.keys() != after.keys():
        wrong.append(f"files: {sorted(now.keys() ^ after.keys())}")
    ledger = now[str(holder / "dpol-ledger.sqlite")]["release"]
    old = kept.get("release", [])
    return wrong + released(holder) + ([] if ledger[: len(old)] == old else ["rows changed"])


def has(holder):
    """True if a holder has a ledger."""
    return (holder / "dpol-ledger.sqlite").exists()


def put(folder, to):
    """Make a folder's content that of another one."""
    for path in to.iterdir() if to.exists() else ():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(folder, to, dirs_exist_ok=True)


@contextmanager
def in_place(path):
    """A broken `atomic_path` that writes in place."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    yield Path(path)


def make_unsafe():
    """Let commands write in place, and to the log without a transaction."""
    for module in (dpol.core.files, dpol_weekly.coordinator.log, dpol_weekly.holder.views):
        module.atomic_path = in_place
    dpol_weekly.coordinator.log._patiently = lambda base, statement: None
    dpol_weekly.coordinator.log.Log.as_a_whole = lambda log: contextlib.nullcontext()


def world(work):
    """Every command with what it starts from and ends in: (who, arguments, from, end, calls)."""
    case = work / "case"
    agreed(case, HOLDERS, columns={"capacity": "beds"})
    os.chdir(case)
    for week in range(WEEKS):
        for name in HOLDERS:
            lines = [f"{name},{day(it)},{10 + it},20" for it in range(week + 1)]
            Path(name).mkdir(exist_ok=True)
            text = "\n".join(["entity,period,count,beds", *lines]) + "\n"
            Path(name, "counts.csv").write_text(text)
        for number, (who, arguments) in enumerate(commands(week)):
            put(Path(), template := work / f"{week}-{number}")
            said, calls = in_child(case, lambda it=arguments: run(it), 0, 0)
            assert said == [0, ""], said
            yield who, arguments, template, visible(), calls


def kill_all(work, variant, times):
    """Kill each command `times` times, at calls drawn from a fixed seed."""
    # Imports everything, so that processes begin where commands do.
    whole = list(world(work))
    if variant == "unsafe":
        make_unsafe()
    for who in ("privatize", "collect", "decide"):
        moments = [
            (case, k, how)
            for case in whole
            if case[0] == who
            for k in range(1, case[4] + 1)
            for how in KILLS
        ]
        for case, k, how in random.Random(1).sample(moments, min(times, len(moments))):
            _, arguments, template, after, _ = case
            wrong = killed(template, who, arguments, after, k, how)
            found = {"command": arguments, "k": k, "how": how, "of": len(moments)}
            print(json.dumps({"who": who, **found, "wrong": wrong}))


if __name__ == "__main__":
    kill_all(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))

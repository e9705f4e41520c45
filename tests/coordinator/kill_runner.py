"""Commands of a coordinator that are killed, a process each; test_kill.py starts it with faults.c.

Prints one JSON line per kill: where it was, and what is wrong at once or after the same command
was run again. What a killed `dpol privatize` leaves is in tests/holder/test_faults.py.
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
import dpol.core.sqlite
import dpol_weekly.coordinator.log
from dpol.cli import main
from holder.fault_runner import in_child
from weekly import agreed, day, report

HOLDERS = "A", "B", "C"
KILLS = 0, -1  # before a call, or when half of its bytes are written
WEEKS = 2


def run(arguments):
    """The answer of a command: its exit code and its error messages."""
    told = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(told):
        return main(arguments), told.getvalue()


def visible(path=Path()):
    """Files in a folder and their bytes; of the log the rows, without the time of day. Hidden ones
    are left by kills, and nobody reads them."""
    found = {str(it): it.read_bytes() for it in path.rglob("[!.]*") if it.is_file()}
    for name in found:
        if name.endswith(".sqlite"):
            with closing(sqlite3.connect(name)) as base:
                base.row_factory = sqlite3.Row
                tables = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                found[name] = [
                    {**row, "received": None}
                    for (table,) in tables.fetchall()
                    for row in base.execute(f"SELECT * FROM {table}")
                ]
    return found


def killed(template, arguments, after, k, how):
    """Faults after a command was killed at its k-th call, and after it was run again."""
    put(template, Path())
    before = visible()
    if in_child(Path().resolve(), lambda: run(arguments), k, how)[0] != "killed":
        return ["was not killed"]
    wrong = [  # A database is not opened: that would repair it.
        f"{it} is half written"
        for it in Path().rglob("[!.]*")
        if it.is_file()
        and ".sqlite" not in it.name
        and it.read_bytes() not in (before.get(str(it)), after.get(str(it)))
    ]
    code, told = run(arguments)
    if code:
        return [*wrong, told]
    now = visible()
    return wrong + [f"{it} differs" for it in now.keys() | after if now.get(it) != after.get(it)]


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
    for module in (dpol.core.files, dpol_weekly.coordinator.log):
        module.atomic_path = in_place
    dpol.core.sqlite._patiently = lambda base, statement: None
    dpol_weekly.coordinator.log.Log.as_a_whole = lambda log: contextlib.nullcontext()


def world(work):
    """Every command with what it starts from and ends in: (arguments, from, end, calls)."""
    case = work / "case"
    deployment = agreed(case, HOLDERS)
    os.chdir(case)
    for week in range(WEEKS):
        tables = [Path(f"{name}.csv") for name in HOLDERS]
        for name, table in zip(HOLDERS, tables, strict=True):
            rows = [(name, it, str(10 + it)) for it in range(week + 1)]
            report(table, deployment, rows, ledger=name, output=name)
        into = "--into", "state", "--deployment", "agreed.yaml"
        for command in (
            ["collect", *map(str, tables), *into],
            ["decide", "state", "--period", day(week + 1)],
        ):
            put(Path(), template := work / f"{week}-{command[0]}")
            said, calls = in_child(case, lambda it=command: run(it), 0, 0)
            assert said == [0, ""], said
            yield command, template, visible(), calls


def kill_all(work, variant, times):
    """Kill each command `times` times, at calls drawn from a fixed seed."""
    # Imports everything, so that processes begin where commands do.
    whole = list(world(work))
    if variant == "unsafe":
        make_unsafe()
    for who in ("collect", "decide"):
        moments = [
            (arguments, template, after, k, how)
            for arguments, template, after, calls in whole
            for k in range(1, calls + 1)
            for how in KILLS
            if arguments[0] == who
        ]
        drawn = random.Random(1).sample(moments, min(times, len(moments)))
        for arguments, template, after, k, how in drawn:
            wrong = killed(template, arguments, after, k, how)
            print(json.dumps({"who": who, "k": k, "how": how, "wrong": wrong}))


if __name__ == "__main__":
    kill_all(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))

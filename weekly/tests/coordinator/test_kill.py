"""`kill -9` in collect and decide: nothing is lost, and nothing is half written.

Commands are killed, a process each, and run again. What a killed `dpol privatize` leaves is in
tests/holder/test_faults.py.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from dpol.cli import main
from faults import in_child
from weekly import agreed, day, public, report

HOLDERS = "A", "B", "C"
TIMES = int(os.environ.get("DPOL_KILLS", "20"))  # of each command
WEEKS = 2


def run(arguments):
    """The answer of a command: its exit code and its error messages."""
    told = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(told):
        return main(arguments), told.getvalue()


HEAD = re.compile(b"[0-9a-f]{64}")


def seen(path):
    """The bytes of a file, without heads of the log's chain, which cover the time of day."""
    return HEAD.sub(b"", path.read_bytes())


def visible(path=Path()):
    """Files in a folder and their bytes; of the log the rows, without the time of day and the heads
    of its chain. Hidden ones are left by kills, and nobody reads them."""
    found = {str(file): seen(file) for file in path.rglob("[!.]*") if file.is_file()}
    for name in found:
        if name.endswith(".sqlite"):
            with closing(sqlite3.connect(name)) as base:
                base.row_factory = sqlite3.Row
                tables = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                found[name] = [
                    {**row, "received": None, "head": None}
                    for (table,) in tables.fetchall()
                    for row in base.execute(f"SELECT * FROM {table}")
                ]
    return found


def killed(arguments, template, after, how, k):
    """Faults after a command was killed at its k-th call, and after it was run again."""
    put(template, Path())
    before = visible()
    if in_child(lambda: run(arguments), how, k)[0] != "killed":
        return []
    wrong = [  # A database is not opened: that would repair it.
        f"{file} is half written"
        for file in Path().rglob("[!.]*")
        if file.is_file()
        and ".sqlite" not in file.name
        and seen(file) not in (before.get(str(file)), after.get(str(file)))
    ]
    code, told = run(arguments)
    if code:
        return [*wrong, told]
    now = visible()
    wrong += [f"{it} differs" for it in now.keys() | after if now.get(it) != after.get(it)]
    broken, told = run(["export", "state", "--verify"])
    return [*wrong, told] if broken else wrong


def put(folder, to):
    """Copy the content of a folder into another one."""
    for path in to.iterdir() if to.exists() else ():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(folder, to, dirs_exist_ok=True)


def world(work, monkeypatch):
    """Every command with what it starts from and ends in: (arguments, from, end, calls)."""
    case = work / "case"
    deployment = agreed(case, HOLDERS)
    monkeypatch.chdir(case)
    for week in range(WEEKS):
        tables = [Path(f"{name}.json") for name in HOLDERS]
        for name, table in zip(HOLDERS, tables, strict=True):
            rows = [(name, k, str(10 + k)) for k in range(week + 1)]
            report(table, deployment, rows, ledger=name, output=name)
        keys = Path("known.yaml")
        keys.write_text("".join(f'{name}: "{public(name)}"\n' for name in HOLDERS))
        into = "--into", "state", "--deployment", "agreed.yaml", "--known-keys", str(keys)
        for command in (
            ["collect", *map(str, tables), *into],
            ["decide", "state", "--period", day(week + 1)],
        ):
            put(Path(), template := work / f"{week}-{command[0]}")
            said, calls = in_child(lambda it=command: run(it))
            assert said == [0, ""], said
            yield command, template, visible(), calls


def wrong_after_kills(work, monkeypatch, times):
    """Return the faults after `times` kills of each command, at moments drawn from a fixed seed."""
    whole = list(world(work, monkeypatch))
    for who in ("collect", "decide"):
        moments = [
            (arguments, template, after, how, k)
            for arguments, template, after, changes in whole
            if arguments[0] == who
            for how, ks in (("kill", range(1, changes + 1)), ("cut", range(200, 40_000, 700)))
            for k in ks
        ]
        for moment in random.Random(1).sample(moments, min(times, len(moments))):
            for text in killed(*moment):
                yield who, text


def test_what_was_killed_is_run_again_and_ends_as_without(tmp_path, monkeypatch):
    """Reports of three holders, first week and second, seeded moments."""
    assert list(wrong_after_kills(tmp_path, monkeypatch, TIMES)) == []

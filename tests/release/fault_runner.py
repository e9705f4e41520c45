"""Release under forced faults, one process each; started by test_faults.py with faults.c loaded.

Prints one JSON line per fault: what the faulty run said, and what is wrong afterwards.
"""

from __future__ import annotations

import contextlib
import csv
import ctypes
import hashlib
import json
import os
import shutil
import sqlite3
import sys
from decimal import Decimal
from pathlib import Path

from dpol.core.errors import DpolError
from dpol.release.noise import CountNoise
from dpol.release.release import release
from dpol.release.request import Choices, CountColumns, Request

COLUMNS = CountColumns("hospital", "week", "covid", "beds")
ROWS, CANARY = 40, "86420.97531"


class Sampler:
    """Draws nothing at random; each run has other noise."""

    name = "secure"

    def __init__(self):
        self.draw = int.from_bytes(os.urandom(4))

    def discrete_gaussian(self, scale, size):
        return [self.draw + i for i in range(size)]


def run(folder, week):
    """Release one week of many hospitals; `released`, or the message."""
    table = folder.parent / f"{week}.csv"
    lines = "".join(f"h{i},{week},{CANARY},99999\n" for i in range(ROWS))
    table.write_text("hospital,week,covid,beds\n" + lines)
    noise, choices = CountNoise(Decimal("0.5")), Choices(append=True)
    try:
        release(Request(table, folder / "noisy.csv", COLUMNS, noise, choices=choices), Sampler())
    except DpolError as error:
        return str(error)
    return "released"


def in_child(folder, week, k, how):
    """What `run` says in a process of its own ('killed'), and how many calls it made."""
    shim = ctypes.CDLL(os.environ["LD_PRELOAD"])
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        os.close(reader)
        shim.arm(str(folder).encode(), k, how)
        try:
            said = run(folder, week)
        except BaseException as error:  # what a user would see as a traceback
            said = f"traceback: {error!r}"
        calls = shim.counted()
        shim.arm(b"", 0, 0)
        os.write(writer, json.dumps([said, calls]).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    return tuple(json.loads(answer)) if answer else ("killed", 0)


def faults_of(folder, said, week, before):
    """What is wrong after a faulty run, and after two undisturbed ones."""
    wrong = []
    twice = run(folder, week)
    held = "holds this entity and period already" in twice
    if twice != "released" and not held:
        wrong.append(f"bricked: {twice}")
    if said == "released" and not held:
        wrong.append("said to be released, and released again")
    if ("rows are released" in said) and not held:
        wrong.append("said to be in the ledger, and is not")
    if "traceback" in said:
        wrong.append(said)
    wrong += views_of(folder)
    if (next_week := run(folder, "2024-03-03")) != "released":
        wrong.append(f"the next week is refused: {next_week}")
    wrong += views_of(folder)
    with contextlib.closing(sqlite3.connect(folder / "dpol-ledger.sqlite")) as base:
        times = base.execute("SELECT COUNT(*) FROM release GROUP BY entity, period").fetchall()
    if times != [(1,)] * (before + 2 * ROWS):
        wrong.append(f"{len(times)} rows, or a period was released twice")
    return wrong


def views_of(folder):
    """What is wrong with table and record, compared with the ledger."""
    names = {"dpol-ledger.sqlite", "noisy.csv", "noisy.csv.guarantee.json"}
    if (there := {file.name for file in folder.iterdir()}) != names:
        return [f"files: {sorted(there)}"]
    with contextlib.closing(sqlite3.connect(folder / "dpol-ledger.sqlite")) as base:
        ledger = base.execute(
            "SELECT text, period, noisy_count FROM release"
            " JOIN name ON name.number = release.name ORDER BY release.number"
        ).fetchall()
    with (folder / "noisy.csv").open(newline="") as stream:
        table = [(r["hospital"], r["week"], r["noisy_count"]) for r in csv.DictReader(stream)]
    wrong = [] if table == ledger else ["table and ledger differ"]
    record = json.loads((folder / "noisy.csv.guarantee.json").read_text())
    if record["sha256"] != hashlib.sha256((folder / "noisy.csv").read_bytes()).hexdigest():
        wrong.append("the record is that of another table")
    return wrong


def raw_counts(folder):
    """Files below a folder that hold a raw count."""
    return [file.name for file in folder.iterdir() if CANARY.encode() in file.read_bytes()]


def main(work, hows):
    """All calls of a first release and of an append, each failing in every way."""
    for before, template in ((0, work / "empty"), (ROWS, work / "one")):
        template.mkdir()
        if before:
            assert run(template, "2024-01-07") == "released"
        for how in hows:
            k = 1
            while True:
                folder = work / "case"
                shutil.copytree(template, folder)
                said, calls = in_child(folder, "2024-02-04", k, how)
                done = said != "killed" and calls < k
                wrong = [f"raw counts in {name}" for name in raw_counts(folder)]
                wrong += faults_of(folder, said, "2024-02-04", before)
                shutil.rmtree(folder)
                if done:
                    break
                print(
                    json.dumps({"before": before, "how": how, "k": k, "said": said, "wrong": wrong})
                )
                k += 1


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(how) for how in sys.argv[2:]])

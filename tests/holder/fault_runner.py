"""Release under forced faults, one process each; started by test_faults.py with faults.c loaded.

Prints one JSON line per fault: what the faulty run said, and what is wrong afterwards.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import shutil
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from dpol.core.errors import DpolError
from dpol_weekly.holder.release import release
from dpol_weekly.holder.request import Request
from dpol_weekly.memory import Memory
from dpol_weekly.noise import in_steps
from dpol_weekly.released import checksum
from releases import HALF, LEDGER, NOISY, RECORD, ask, deployment, output, record

ROWS, CANARY = 10, "86420.97531"
HELD = "held already"
MADE = deployment(
    Memory((Decimal("0.2"), Decimal("0.6"))),
    periods={"first": "2024-01-07"},
    entities={f"h{i}": {} for i in range(ROWS)},
)


class Sampler:
    """Draws nothing at random; each run has other noise."""

    name = "secure"

    def __init__(self):
        self.draw = int.from_bytes(os.urandom(4))

    def discrete_gaussian(self, scale, size):
        return [self.draw + i for i in range(size)]


def run(folder, week):
    """Release one week of ten hospitals; `released`, `HELD` if it was before, or the message."""
    table = folder.parent / f"{week}.csv"
    lines = "".join(f"h{i},{week},{CANARY},99999\n" for i in range(ROWS))
    table.write_text("hospital,week,covid,beds\n" + lines)
    request = Request(
        table=table, output=folder / NOISY, deployment=MADE, agree=MADE.sha256(), gap=True
    )
    try:
        return "released" if release(request, Sampler()).added else HELD
    except DpolError as error:
        return str(error)


def in_child(folder, act, k, how):
    """Result of a function in a process of its own ('killed'), and the number of its calls."""
    shim = ctypes.CDLL(os.environ["LD_PRELOAD"])
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        os.close(reader)
        shim.arm(str(folder).encode(), k, how)
        try:
            said = act()
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
    """Faults after a faulty run, and after two undisturbed ones."""
    wrong = []
    twice = run(folder, week)
    held = twice == HELD
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
    times = ask("SELECT COUNT(*) FROM release GROUP BY entity, period", folder / LEDGER)
    if times != [(1,)] * (before + 2 * ROWS):
        wrong.append(f"{len(times)} rows, or a period was released twice")
    return wrong


def views_of(folder):
    """Faults in table and record, compared with the ledger."""
    there = sorted(file.name for file in folder.iterdir())
    if there != sorted(map(str, (LEDGER, NOISY, RECORD))):
        return [f"files: {there}"]
    names = "ORDER BY number"
    ledger = ask(f"SELECT name, period, noisy_count FROM release {names}", folder / LEDGER)
    rows = output(folder / NOISY)
    table = [(row["hospital"], row["week"], row["noisy_count"]) for row in rows]
    wrong = [] if table == ledger else ["table and ledger differ"]
    stated = record(folder / RECORD)
    if stated["sha256"] != checksum((folder / NOISY).read_bytes(), stated):
        wrong.append("the record is that of another table")
    return wrong + states_of(folder)


def states_of(folder):
    """Faults in the memories in the ledger, compared with the noise of its rows."""
    expected, decimals = {}, HALF.decimals  # worked out again each time
    rows = "SELECT chain, noisy_count FROM release ORDER BY number"
    for chain, noisy in ask(rows, folder / LEDGER):
        steps = Fraction(noisy) * 10**decimals - in_steps(CANARY, decimals)
        u = expected.get(chain, Fraction(0))
        expected[chain] = Fraction("0.6") * u + Fraction("-0.4") * steps
    found = ask("SELECT number, u FROM chain", folder / LEDGER)
    right = {chain: Fraction(u) for chain, u in found} == expected
    return [] if right else ["a memory is not that of the rows"]


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
            for k in itertools.count(1):
                folder = work / "case"
                shutil.copytree(template, folder)
                said, calls = in_child(folder, lambda it=folder: run(it, "2024-02-04"), k, how)
                done = said != "killed" and calls < k
                wrong = [f"raw counts in {name}" for name in raw_counts(folder)]
                wrong += faults_of(folder, said, "2024-02-04", before)
                shutil.rmtree(folder)
                if done:
                    break
                found = {"before": before, "how": how, "k": k, "said": said, "wrong": wrong}
                print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(how) for how in sys.argv[2:]])

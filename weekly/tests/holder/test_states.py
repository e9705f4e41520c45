"""No draw of a chain goes on from a state older than the last release, whatever files come back.

Seeded sequences of releases, copies and restores, with an observer in the plainest way: somebody
who saw every table that was ever written, and knows every draw.
"""

from __future__ import annotations

import math
import os
import random
import tempfile
from collections import defaultdict
from contextlib import chdir
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from dpol.core.errors import DpolError
from dpol_weekly.holder import views
from dpol_weekly.memory import Memory
from releases import LEDGER, NOISY, ask, deployment, output, put

SEQUENCES = int(os.environ.get("DPOL_TEST_SEQUENCES", "200")) // 4
STEPS = 12
FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None
NAMES = "nx", "ox"
MADE = deployment(
    Memory((Decimal("0.2"), Decimal("0.6"))),
    periods={"first": "2021-01-01", "days": 1},
    entities={name: {} for name in NAMES},
)
TABLES = NOISY, Path("other")  # folders of releases
FILES = [LEDGER, *TABLES]
# Of releases and ledger, so many may be moved away for a message.
IN_THE_WAY = {"is not what": 2, "knows of releases that the ledger": 1}


def state_of(file):
    """The bytes of a file, or of all files in a folder; None if there are none."""
    if file == LEDGER:
        return file.read_bytes() if file.exists() else None
    return {it: it.read_bytes() for it in sorted(file.glob("*.zip"))} or None


class Draw:
    """A sampler of one large draw."""

    name = "seeded"

    def __init__(self, value):
        self.value = value

    def discrete_gaussian(self, scale, size):
        return [self.value] * size


def week(number):
    return f"2021-{1 + number // 4:02d}-{1 + 7 * (number % 4):02d}"


def rounded(u):
    return math.floor(u + Fraction(1, 2))


class World:
    """The files of a holder, all their states so far, and what an observer knows.

    Args:
        seed: of the sequence.
    """

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.kept = {file: [None] for file in FILES}  # states of each file, the newest last
        self.u = dict.fromkeys(TABLES, Fraction(0))  # after the last release
        self.seen = defaultdict(set)  # weeks that were released
        self.wrong, self.done, self.restored = [], defaultdict(int), False

    def keep(self):
        for file, states in self.kept.items():
            now = state_of(file)
            if now is not None and now != states[-1]:
                # A ledger that lacks releases is not the newest.
                states.insert(len(states) - (file == LEDGER and self.lacks()), now)

    def lacks(self):
        """True if the ledger does not know all weeks that were released."""
        known = set(ask("SELECT name, period FROM release"))
        seen = {(f"{it.stem[0]}x", week(n)) for it, of in self.seen.items() for n in of}
        return not seen <= known

    def put_back(self):
        """Bring some files to older states, or remove them."""
        some = self.rng.sample(FILES, self.rng.randint(1, len(FILES)))
        cleared = self.rng.random() < 0.5  # an older ledger, and files that were mailed and removed
        for file in dict.fromkeys([*some, LEDGER]) if cleared else some:
            how = self.rng.choice(["older", "older", "newest", "gone"])
            if cleared:
                how = "older" if file == LEDGER else "gone"
            states = self.kept[file]
            self.set(file, {"newest": states[-1], "gone": None}.get(how, self.rng.choice(states)))
        self.leave_a_witness()
        self.restored = True

    def leave_a_witness(self):
        """The newest state of a file is found, if no other could show that something was lost."""
        for table in TABLES:
            older = all(state_of(it) not in (None, self.kept[it][-1]) for it in (LEDGER, table))
            known = LEDGER.exists() and ask(f"SELECT 1 FROM output WHERE path = '{table}/d'")
            lost = not known and state_of(table) is None
            if self.seen[table] and (older or lost):
                newest = table if lost else self.rng.choice((LEDGER, table))
                self.set(newest, self.kept[newest][-1])

    def set(self, file, content):
        if file != LEDGER:
            for old in file.glob("*.zip"):
                old.unlink()
            for path, held in (content or {}).items():
                path.write_bytes(held)
            return
        file.unlink(missing_ok=True)
        if content is not None:
            file.write_bytes(content)

    def release(self):
        """Release a week; a holder who answers every question, and moves what is in the way."""
        table, flags = self.rng.choice(TABLES), set()
        # After a restore, the last week may seem to be new.
        ahead = self.rng.choice([0, 0, 1] if self.restored else [1, 1, 2])
        number, self.restored = max(self.seen[table], default=-1) + ahead, False
        for _ in range(6):
            draw = self.rng.randint(10**4, 10**6) * self.rng.choice([-1, 1])
            row = f"{table.stem[0]}x", week(max(number, 0)), "4"
            try:
                done = put(row, to=table, made=MADE, gap=True, sampler=Draw(draw),
                           write_again="write_again" in flags)  # fmt: skip
            except DpolError as error:
                if not self.answer(table, str(error), flags):
                    break
            else:
                if done.added:
                    self.observe(table, max(number, 0), draw, flags)
                self.keep()
                return
        for file in FILES:  # what nobody can answer: the newest files are found
            self.set(file, self.kept[file][-1])

    def answer(self, table, question, flags):
        self.done["questions"] += 1
        for text, in_the_way in IN_THE_WAY.items():
            if text in question:
                self.set(self.rng.choice([table, LEDGER][:in_the_way]), None)
                self.leave_a_witness()
                flags.add("moved")
                return True
        if "--write-again" in question and "write_again" not in flags:
            flags.add("write_again")
            return True
        return False

    def observe(self, table, number, draw, flags):
        """Compare the last row of a table with what an observer expects."""
        noise = int((Decimal(output(table)[-1]["noisy_count"]) - 4) * 10**6)
        before, last = noise - draw, self.u[table]
        if before not in (0, rounded(last)):
            self.wrong.append("an older state")
        fresh = before == 0
        self.done["fresh" if fresh else "continued"] += 1
        self.u[table] = Fraction("0.6") * (0 if fresh else last) - Fraction("0.4") * noise
        if number in self.seen[table]:
            self.done["twice"] += 1
            if not flags:
                self.wrong.append("a week twice without a question")
            if not fresh:
                self.wrong.append("a week twice in one chain")
        self.seen[table].add(number)


def played(seed):
    with tempfile.TemporaryDirectory(dir=FAST) as folder, chdir(folder):
        world = World(seed)
        for _ in range(STEPS):
            world.release()
            if world.rng.random() < 0.4:
                world.put_back()
        return world


def test_no_draw_goes_on_from_a_state_older_than_the_last_release():
    worlds = [played(seed) for seed in range(SEQUENCES)]
    assert [(seed, world.wrong) for seed, world in enumerate(worlds) if world.wrong] == []
    # Chains did go on, questions were asked, and answers did release weeks twice.
    for event in ("continued", "fresh", "questions", "twice"):
        assert sum(world.done[event] for world in worlds) >= SEQUENCES // 4


def ends_one(ledger):
    """The chains of the output that was released first, alone."""
    ledger.execute("UPDATE chain SET u = NULL WHERE output = 1")


OUTPUT_AT = views.output_at


def unwritten(*given):
    """Files that are gone are taken for files that were never written."""
    known = OUTPUT_AT(*given)
    return known and replace(known, written=False)


@pytest.mark.parametrize(
    ("name", "by"),
    [
        ("end_all", lambda ledger: None),
        ("end_all", ends_one),
        ("knows_run", lambda *_: True),
        ("output_at", unwritten),
    ],
)
def test_a_broken_memory_is_noticed(name, by, monkeypatch):
    monkeypatch.setattr(views, name, by)
    assert any(played(seed).wrong for seed in range(SEQUENCES))

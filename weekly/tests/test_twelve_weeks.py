"""One state, twelve weeks, thirteen hospitals and what happens to them, by the commands alone.

Each event takes at most two commands or lines more, and each message names the next one.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
import yaml

from dpol_weekly.coordinator.log import Log
from dpol_weekly.deployment import read_deployment
from dpol_weekly.keys import Key
from dpol_weekly.records import versions
from dpol_weekly.released.read import read_release
from releases import run

FIRST = datetime.date(2024, 1, 1)
ALL = [f"h{number:02}" for number in range(1, 14)]
LATE, TWICE, RENAMED, WARD, RESTORED, BOTH, AFTER, NEVER, CLOSED, KEY, SECRET, USUAL, JOINS = ALL


def start(week):
    return FIRST + datetime.timedelta(days=7 * week)


class World:
    """The hospitals, their tables and the coordinator; all commands run in this process."""

    def __init__(self):
        self.errors = []
        self.truth = {
            (name, week): 20 + (7 * number + 3 * week) % 11
            for number, name in enumerate(ALL)
            for week in range(12)
        }
        keys = {"name": "state", "periods": {"first": FIRST}, "mu": 0.5, "budget_mu": 2}
        keys |= {"second_release": {"after": 4}, "affirmed": True}
        keys["entities"] = {name: {"capacity": 60} for name in ALL[:-1]}
        Path("agreed.yaml").write_text(yaml.safe_dump(keys))
        self.agreed = Path("agreed.yaml")
        joins = {JOINS: {"capacity": 60, "since": start(8)}}
        ends = {CLOSED: {"capacity": 60, "until": start(8)}}
        keys["entities"] |= joins | ends
        keys["amends"] = {"agreement": read_deployment("agreed.yaml").sha256(), "since": start(8)}
        Path("amended.yaml").write_text(yaml.safe_dump(keys))

    def table(self, name, week, text="Total", without=()):
        Path(name).mkdir(exist_ok=True)
        begin = 8 if name == JOINS else 0
        rows = [
            f"{text},{start(of)},{self.truth[name, of]}"
            for of in range(begin, week + 1)
            if of not in without
        ]
        Path(name, "t.csv").write_text("\n".join(["place,period,count", *rows]) + "\n")

    def begin(self, name):
        words = ["--deployment", self.agreed, "--entity", f"{name}=Total", "--copy-to", "inbox"]
        words += ["--column", "entity=place", "zero=written", "decimal=.", "thousands=none"]
        file = Path(name, "hospital.yaml")
        assert run("privatize", file, "--init", Path(name, "t.csv"), *words)[0] == 0
        self.read_out(name)
        assert self.release(name, "--agree", read_deployment(self.agreed).sha256())[0] == 0

    def read_out(self, name):
        known = Path("known.yaml")
        keys = json.loads(known.read_text()) if known.exists() else {}
        known.write_text(json.dumps(keys | {name: Key(Path(name, "dpol.key")).public}))

    def release(self, name, *more):
        return run("privatize", Path(name, "hospital.yaml"), "--quiet", *more)

    def edit(self, name, old, new):
        file = Path(name, "hospital.yaml")
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    def collect(self):
        words = "inbox", "--into", "state", "--deployment", self.agreed, "--known-keys"
        return run("collect", *words, "known.yaml")


def test_twelve_weeks_of_thirteen_hospitals(folder, clock):
    world = World()
    for week in range(12):
        clock.now = start(week + 1)
        if week == 8:  # one closes, one joins: a new file, which all confirm
            world.agreed = Path("amended.yaml")
            sha256 = read_deployment(world.agreed).sha256()
            for name in ALL[:-1]:
                world.edit(name, "agreed.yaml", "amended.yaml")
                code, _, err = world.release(name)
                assert (code, "has changed since you confirmed it" in err) == (1, True)
                assert world.release(name, "--agree", sha256)[0] == 0
        for name in ALL if week >= 8 else ALL[:-1]:
            play(world, name, week)
        code, out, err = world.collect()
        assert (code, err) == (0, ""), (week, err)
        code, out, err = run("decide", "state")
        assert (code, err) == (0, "")
        assert out.startswith(f"{start(week + 1)}: h")
        missing = [line for line in out.splitlines() if line.startswith("no report for")]
        silent = {5: LATE, 6: NEVER}.get(week)
        assert missing == ([f"no report for {start(week)}: {silent}"] if silent else []), week
    check_the_end(world)


def play(world, name, week):
    """A week of a hospital; what is not as usual stands here."""
    text, without = "Total", set()
    if name == WARD and week >= 3:  # the hospital's system renames the ward
        text = "Ward A"
        if week == 3:
            world.table(name, week, text)
            code, _, err = world.release(name)
            assert (code, "If the table writes another text, correct entities" in err) == (0, True)
            world.edit(name, "Total", "Ward A")
    if name == NEVER and week >= 6:
        without = {6}
    if name == LATE and week == 5:
        return
    if name == CLOSED and week >= 8:
        return
    if name == BOTH and week == 6:  # a count is corrected
        world.truth[name, 5] += 9
    if name == AFTER and week == 9:  # its second release has left
        world.truth[name, 1] += 9
    if name in (RESTORED, BOTH) and week == 4:
        shutil.copytree(name, f"backup-{name}")
    if name in (RESTORED, BOTH) and week == 7:
        shutil.rmtree(name)
        shutil.move(f"backup-{name}", name)
    world.table(name, week, text, without)
    if week == 0 or (name == JOINS and week == 8):
        world.begin(name)
    if name in (KEY, SECRET) and week == 7:
        kind = "key" if name == KEY else "secret"
        Path(name, f"dpol.{kind}").unlink()
        code, _, err = world.release(name)
        assert (code, "--new-key makes another one" in err) == (1, True)
        code, out, _ = run("privatize", Path(name, "hospital.yaml"), "--new-key")
        assert code == 0
        if name == KEY:
            line = next(it for it in out.splitlines() if it.startswith("Write former_keys"))
            with Path(name, "hospital.yaml").open("a") as stream:
                stream.write(line.removeprefix("Write ").removesuffix(" into your file") + "\n")
            world.read_out(name)
    code, _, err = world.release(name)
    assert code == 0, (name, week, err)
    if name == NEVER and week in (6, 7):
        assert f"(the table has no row): {name} {start(6)}. What was never counted: write" in err
        if week == 7:
            with Path(name, "hospital.yaml").open("a") as stream:
                stream.write(f"unknown: [{start(6)}]\n")
    else:
        assert "Due" not in err
    if name == TWICE:
        shutil.copy(newest_of(name), f"inbox/again-{week}.json")
    if name == RENAMED:
        newest_of(name).rename(newest_of(name).with_name(f"renamed {week}.json"))
        for file in Path("inbox").glob(f"*-{Key(Path(name, 'dpol.key')).public[:8]}-*"):
            file.rename(f"inbox/download of {file.name[-15:]}")  # two files in the week of a change


def newest_of(name):
    return max(Path(name, "released").glob("*.json"), key=lambda it: len(read_release(it).rows))


def check_the_end(world):
    """All rows arrived, none was drawn twice; the auditor comes a year later."""
    held = Log(Path("state")).rows
    assert Counter(name for name, _ in held) == {
        name: {NEVER: 11, CLOSED: 8, JOINS: 4}.get(name, 12) for name in ALL
    }
    drawn = {}
    files = [*Path().glob("h*/released/*.json"), *Path("inbox").glob("*.json")]
    for file in files:
        for (entity, period, text, _), version in versions(read_release(file).rows):
            drawn.setdefault((entity, period, version), set()).add(text)
    assert [place for place, texts in drawn.items() if len(texts) > 1] == []
    (second,) = drawn[BOTH, str(start(5)), 2]
    assert float(second) == pytest.approx(world.truth[BOTH, 5], abs=15)
    words = "--deployment", "agreed.yaml", "--deployment", "amended.yaml"
    code, out, err = run("recompute", *Path("state/accepted").glob("*/*.json"), *words)
    assert (code, err, "keep to the budgets" in out) == (0, "", True)
    for week in range(1, 13):
        code, out, _ = run("decide", "state", "--check", start(week))
        assert (code, "equal, decided again from" in out) == (0, True)
    with contextlib.chdir("state"):
        code, out, _ = run("export", ".", "--as-of", "20")
        assert (code, "rows, as of line 20." in out) == (0, True)

"""`kill -9` in privatize, collect and decide: nothing is lost or leaves twice; equal bytes."""

from __future__ import annotations

import datetime
import os
import random
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpol_weekly.coordinator import log as log_module
from faults import in_child
from releases import day, deployment, files, known_keys, own_of, run

TIMES = int(os.environ.get("DPOL_KILLS", "20"))  # of each command
MADE = deployment(
    entities={name: {"capacity": 20} for name in "AB"}, second_release={"after": 2}, budget_mu=9
)
COMMANDS = {
    "privatize": f"privatize --agree {MADE.sha256()}",
    "collect": "collect outbox --into state --deployment d.yaml --known-keys known.yaml",
    "decide": "decide state",
}


class Clock(datetime.datetime):
    @classmethod
    def now(cls, zone=None):
        return cls(2024, 1, 1, tzinfo=zone)


@pytest.mark.parametrize("of", COMMANDS)
def test_what_was_killed_is_run_again_and_ends_as_without(tmp_path, monkeypatch, clock, of):
    """First week and second, at seeded moments."""
    (tmp_path / "case").mkdir()
    monkeypatch.chdir(tmp_path / "case")
    named = SimpleNamespace(datetime=Clock, UTC=datetime.UTC)
    monkeypatch.setattr(log_module, "datetime", named)
    own_of(MADE, copy_to="outbox")
    known_keys(*"AB")
    moments = []
    for week in range(2):
        clock.now = day(7 * week + 14)
        rows = [f"{name},{day(7 * k)},{10 + k},20" for k in range(week + 2) for name in "AB"]
        Path("counts.csv").write_text("\n".join(["hospital,week,covid,beds", *rows]) + "\n")
        for name, text in COMMANDS.items():
            template, command = tmp_path / f"{week}-{name}", text.split()
            shutil.copytree(".", template)
            before = files()
            (code, *_), changes = in_child(lambda it=command: run(*it))
            assert code == 0
            ways = ("kill", range(1, changes + 1)), ("cut", range(200, 20_000, 700))
            for how, ks in ways if name == of else ():
                today = clock.now
                moments += [(today, command, template, before, files(), how, k) for k in ks]
    killed = 0
    chosen = random.Random(1).sample(moments, len(moments))
    for clock.now, command, template, before, after, how, k in chosen:
        if killed == TIMES:
            break
        shutil.rmtree(tmp_path / "again", ignore_errors=True)
        shutil.copytree(template, tmp_path / "again")
        monkeypatch.chdir(tmp_path / "again")
        if in_child(lambda it=command: run(*it), how, k)[0] != "killed":
            continue
        killed += 1
        for file, content in files().items():
            whole = content in (before.get(file), after.get(file))
            started = file.endswith("accepted.jsonl") and after[file].startswith(content)
            assert whole or started, f"{file} is half written"
        assert run(*command)[0] == 0
        assert files() == after
    assert killed == TIMES

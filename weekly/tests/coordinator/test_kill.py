"""`kill -9` in collect and decide: nothing is lost, and nothing is half written.

Commands are killed, a process each, and run again. What a killed `dpol privatize` leaves is in
tests/holder/test_faults.py.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from pathlib import Path

import pytest

from faults import in_child
from releases import ask, run
from weekly import agreed, day, public, report

TIMES = int(os.environ.get("DPOL_KILLS", "20"))  # of each command
HEAD = re.compile(b"[0-9a-f]{64}")
LOG = "SELECT entity, period, version, noisy_count, capacity FROM release ORDER BY 1, 2, 3"


def files():
    """The coordinator's files but the log, without heads of its chain; hidden ones nobody reads."""
    found = [it for it in Path("state").rglob("[!.]*") if it.is_file() and ".sqlite" not in it.name]
    return {str(file): HEAD.sub(b"", file.read_bytes()) for file in found}


def put(folder):
    """Make the current folder a copy of another one."""
    shutil.rmtree("state", ignore_errors=True)
    shutil.copytree(folder, ".", dirs_exist_ok=True)


@pytest.mark.parametrize("of", ["collect", "decide"])
def test_what_was_killed_is_run_again_and_ends_as_without(tmp_path, monkeypatch, of):
    """Reports of three holders, first week and second, seeded moments."""
    agreed(tmp_path / "case", "ABC")
    monkeypatch.chdir(tmp_path / "case")
    Path("known.json").write_text(json.dumps({name: public(name) for name in "ABC"}))
    moments = []
    for week in range(2):
        for name in "ABC":
            rows = [(name, k, str(10 + k)) for k in range(week + 1)]
            report(Path(f"in/{name}.json"), "agreed.yaml", rows, ledger=name, output=name)
        options = "--into state --deployment agreed.yaml --known-keys known.json"
        for text in (f"collect in {options}", f"decide state --period {day(week + 1)}"):
            template, command = tmp_path / f"{week}-{text[:7]}", text.split()
            shutil.copytree(".", template)
            before = files()
            (code, *_), changes = in_child(lambda it=command: run(*it))
            assert code == 0
            after = files(), ask(LOG, "state/log.sqlite")
            ways = ("kill", range(1, changes + 1)), ("cut", range(200, 40_000, 700))
            for how, k in ((how, k) for how, ks in ways for k in ks if text.startswith(of)):
                moments.append((command, template, before, after, how, k))
    killed = 0
    for command, template, before, after, how, k in random.Random(1).sample(moments, len(moments)):
        if killed == TIMES:
            break
        put(template)
        if in_child(lambda it=command: run(*it), how, k)[0] != "killed":
            continue
        killed += 1
        # The log is not opened: that would repair it.
        for file, content in files().items():
            assert content in (before.get(file), after[0].get(file)), f"{file} is half written"
        assert run(*command)[0] == 0
        assert (files(), ask(LOG, "state/log.sqlite")) == after
        assert run("export", "state", "--verify")[0] == 0
    assert killed == TIMES

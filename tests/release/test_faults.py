"""Every call of a release that changes a file fails, or the process is killed in it."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HOWS = -1, errno.EIO, -2  # kill, fail, write half and fail; see faults.c


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    """faults.c, to be loaded before libc."""
    library = tmp_path_factory.mktemp("shim") / "faults.so"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library]
    subprocess.run([*command, HERE / "faults.c", "-ldl"], check=True)
    return library


def test_no_fault_bricks_a_ledger_or_releases_a_period_twice(shim, tmp_path):
    """First release and append: one process for each fault.

    After each: the same command succeeds or says that the rows are released, the next week is
    released, and ledger, table and record agree.
    """
    result = subprocess.run(
        [sys.executable, HERE / "fault_runner.py", tmp_path, *map(str, HOWS)],
        env={**os.environ, "LD_PRELOAD": str(shim)} | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    faults = [json.loads(line) for line in result.stdout.splitlines()]
    assert [fault for fault in faults if fault["wrong"]] == []
    # The faults were there, and of all kinds.
    outcomes = Counter(
        "killed" if fault["said"] == "killed" else "released" in fault["said"] for fault in faults
    )
    assert min(outcomes["killed"], outcomes[True], outcomes[False]) > 30

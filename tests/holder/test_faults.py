"""Every call of a release that changes a file fails, or the process is killed in it."""

from __future__ import annotations

import errno
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
HOWS = -1, errno.EIO, -2  # kill, fail, write half and fail; see faults.c


def test_no_fault_bricks_a_ledger_or_releases_a_period_twice(under_faults, tmp_path):
    """First release and append: one process for each fault.

    After each: the same command succeeds or says that the rows are released, the next week is
    released, and ledger, table and record agree.
    """
    faults = under_faults(HERE / "fault_runner.py", tmp_path, *HOWS)
    assert [fault for fault in faults if fault["wrong"]] == []
    # The faults were there, and of all kinds.
    outcomes = Counter(
        "killed" if fault["said"] == "killed" else "released" in fault["said"] for fault in faults
    )
    assert min(outcomes["killed"], outcomes[True], outcomes[False]) > 30

"""The benchmark measures what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

WEEKLY = Path(__file__).parents[2]
MEASURE = """
import sys
from live import measured
for program in "large = bytearray(900 << 20)", "pass":
    print(measured(sys.executable, "-c", program)[1])
"""


def test_a_peak_is_that_of_its_own_process_and_not_the_largest_so_far():
    # As the benchmark does, from a small process: Linux counts the parent's peak as the child's.
    path = os.pathsep.join(str(WEEKLY / name) for name in ("benchmarks", "tests"))
    command = [sys.executable, "-c", MEASURE]
    printed = subprocess.check_output(command, env=os.environ | {"PYTHONPATH": path}, text=True)
    large, small = map(float, printed.split())
    assert small < 300 < 900 < large

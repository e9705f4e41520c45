"""The benchmark measures what it says."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

LIVE = Path(__file__).parents[2] / "benchmarks" / "live.py"


def test_a_peak_is_that_of_its_own_process_and_not_the_largest_so_far():
    measured = runpy.run_path(str(LIVE))["measured"]
    programs = "large = bytearray(900 << 20)", "pass"
    (_, large), (_, small) = (measured(sys.executable, "-c", program) for program in programs)
    assert small < 700 < 900 < large

"""The benchmark measures what it says."""

from __future__ import annotations

import sys

from live import measured


def test_a_peak_is_that_of_its_own_process_and_not_the_largest_so_far():
    held = bytearray(900 << 20)
    programs = f"large = bytearray({len(held)})", "pass"
    (_, large), (_, small) = (measured(sys.executable, "-c", program) for program in programs)
    assert small < 300 < 900 < large

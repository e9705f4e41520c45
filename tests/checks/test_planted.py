"""Every planted fault is refused, or passes for the reason that the page on privacy gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks import blind, planted
from dpol.checks.check import checks_of, verdict

PAGE = Path(__file__).parents[2] / "docs/explanation/privacy.md"
NAMES = [
    f"checks.{short}:{name}"
    for short, module in (("planted", planted), ("blind", blind))
    for name in module.FAULTS
]


def refusal(name: str, seed: int) -> str:
    """Return the first counterexample."""
    found = (verdict(title, run) for title, run in checks_of(name, seed))
    return next((it.counterexample for it in found if not it.holds), "")


@pytest.mark.parametrize("name", [it for it in NAMES if it.partition(":")[2] not in planted.PASS])
def test_a_planted_fault_is_refused(name):
    assert refusal(name, seed=1 + NAMES.index(name) % 3)


def test_the_page_lists_all_planted_faults():
    assert len(blind.FAULTS) == 15
    assert planted.table() in PAGE.read_text(encoding="utf-8")

"""Rules say what they do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline import ROOT, snakemake, succeed


@pytest.mark.workflow
@pytest.mark.parametrize("config", ["config", "paper", "simulated"])
def test_the_list_of_rules_says_what_each_does(config: str, tmp_path: Path) -> None:
    listed = succeed(snakemake(tmp_path, "--list-rules", config=ROOT / f"config/{config}.yaml"))
    rules = re.findall(r"^(\w+)(?: \((\w.+\.)\))?$", listed, re.MULTILINE)
    assert len(rules) >= 13
    assert [name for name, about in rules if not about] == []

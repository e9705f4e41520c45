"""Rules say what they do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline import ROOT, snakemake, succeed

COMMON = {"all", "results", "data", "streams", "build_stream", "render_report"}


@pytest.mark.workflow
@pytest.mark.parametrize(
    ("config", "more"),
    [
        ("config", {"clean_panel"}),
        ("paper", {"clean_panel", "fetch_dataset"}),
        ("simulated", {"clean_panel", "simulate_dataset"}),
    ],
)
def test_the_list_of_rules_says_what_each_does(config: str, more: set[str], tmp_path: Path) -> None:
    listed = succeed(snakemake(tmp_path, "--list-rules", config=ROOT / f"config/{config}.yaml"))
    about = dict(re.findall(r"^(\w+) \((\w.+\.)\)$", listed, re.MULTILINE))
    assert COMMON | more <= set(about)

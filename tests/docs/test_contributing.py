"""CONTRIBUTING.md is up to date."""

from __future__ import annotations

import re

import contributing

from code_blocks import ROOT

PAGE = contributing.PAGE.read_text(encoding="utf-8")


def test_rooms_are_those_of_today() -> None:
    assert contributing.renewed(PAGE) == PAGE, "run: make format"


def test_every_file_that_is_named_exists() -> None:
    rooms = "src|docs|tests|workflow|tools|benchmarks|requirements"
    named = re.findall(rf"(?:`|\]\(|pytest |python |--requirement )((?:{rooms})/[\w./-]+)", PAGE)
    assert {"tests/wheel", "tools/kernels.py", "requirements/peers.txt"} < set(named)
    life = re.findall(r"`((?:data|experts|noise|studies)/[\w/]+\.py)`", PAGE)
    assert "experts/play.py" in life
    named += [f"src/dpol/{name}" for name in life]
    assert [name for name in named if not (ROOT / name).exists()] == []

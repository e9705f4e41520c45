"""Every block in braces on the page of configs is one that a config may have at its place."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from code_blocks import ROOT
from dpol.config.experiment import parse_experiment
from dpol.core.errors import ConfigError
from small_config import LOCAL, changed

BLOCK = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
ENTRIES = "suites.noisy.algorithms"


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """Yield the key of each block, as in the manual's tables or empty for others, and its text."""
    heading = ""
    for line in page.splitlines():
        if line.startswith("### "):
            heading = re.split("[ ,]", line)[1]
        key = re.match(r"`([\w.]+)` \|", line)
        for text in BLOCK.findall(line):
            yield f"{heading}.{key[1]}" if key else "", text


def refused(key: str, text: str) -> bool:
    """Return whether a config that has the block there is refused.

    A block without a key is an entry of a suite, or of the learners of one. The words of a key may
    show its value, or the block that has it.
    """
    block = yaml.safe_load(text)
    if key:
        tried = [{key: block}, {key.rpartition(".")[0]: block}]
    elif "learner" in block:
        tried = [{ENTRIES: [{"algorithm": "rw-meta", "learners": [block]}]}]
    else:
        tried = [{ENTRIES: [block]}]
    base = {"dataset.source": LOCAL, "report.algorithms": []}
    for change in tried:
        try:
            parse_experiment(changed(base, change), "")
        except ConfigError:
            continue
        return False
    return True


def test_every_block_is_one_of_a_config() -> None:
    found = list(blocks((ROOT / "config" / "README.md").read_text(encoding="utf-8")))
    assert len([text for key, text in found if not key]) >= 3
    assert len([text for key, text in found if key]) >= 4
    assert [each for each in found if refused(*each)] == []

"""The code blocks of the documentation, run as a reader would run them."""

from __future__ import annotations

from pathlib import Path

import pytest

from code_blocks import ROOT, Reader, blocks, copy_project, pages, run_page
from pipeline import run, succeed


def readers() -> dict[str, list[Path]]:
    """Return what each reader reads: one all pages that play the shelters, others a page each."""
    several = {"shelters": [page for page in pages() if plays_shelters(page)]}
    others = {*several["shelters"], ROOT / "README.md"}  # tests/wheel types the README's commands
    alone = [page for page in pages() if blocks(page) and page not in others]
    return several | {str(page.relative_to(ROOT)): [page] for page in alone}


def plays_shelters(page: Path) -> bool:
    """Return whether a reader of a page runs config/shelters.yaml."""
    typed = (block.code for block in blocks(page) if not block.reason)
    return any("run shelters" in code or "config/shelters.yaml" in code for code in typed)


@pytest.mark.workflow
@pytest.mark.parametrize("reader", READERS := readers())
def test_code_blocks_run(reader: str, tmp_path: Path) -> None:
    """What the commands of a page write, git does not show; what a reader pastes, it may show."""
    project = copy_project(tmp_path)
    for words in ("init --quiet", "add --all"):
        succeed(run("git", *words.split(), folder=project))
    for page in READERS[reader]:
        run_page(page, Reader(project))
    pasted = {block.file for page in READERS[reader] for block in blocks(page)}
    shown = succeed(run("git", "ls-files", "--others", "--exclude-standard", folder=project))
    assert {*shown.splitlines()} <= pasted

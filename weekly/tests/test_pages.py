"""README does what it says, in one shell, as a reader pastes it; and no link is broken."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"```sh\n(.*?)```\n(?:\n```text\n(.*?)```)?", re.DOTALL)
END = "--- the block ends ---"


def anchors(page):
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda it: it.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\((?!https:)([^)]+)\)", page.read_text()):
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_readme_prints_what_it_says(tmp_path):
    blocks = BLOCK.findall(PAGES[0].read_text())
    assert len(blocks) > 5
    shutil.copytree(ROOT / "demo", tmp_path / "demo", ignore=shutil.ignore_patterns("work"))
    script = "".join(f"{commands}\necho '{END}'\n" for commands, _ in blocks)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-eu"],
        input=script,
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    said = done.stdout.split(f"{END}\n")[:-1]
    compare = doctest.OutputChecker().check_output
    for (commands, expected), found in zip(blocks, said, strict=True):
        if expected:
            assert compare(expected, found, doctest.ELLIPSIS), f"{commands}\n{found}"

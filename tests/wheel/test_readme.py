"""The README's commands, typed in a fresh clone by somebody without any environment."""

from __future__ import annotations

import html
import os
import re
import subprocess
from pathlib import Path

import pytest

from code_blocks import blocks
from pipeline import ROOT, run, succeed

README = ROOT / "README.md"
ENVIRONMENTS = "CONDA", "PYTHON", "VIRTUAL_ENV"
"""Beginnings of the names of variables that lead to a Python."""
LEVEL = r"μ = (∞|[\d.]+)"
PAGES = re.compile(LEVEL + r" ([\d.]+) (?:± [\d.]+|exact) ([\d.]+) (?:± [\d.]+|exact)")
READMES = re.compile(r"^\| (∞|[\d.]+)[^|]*\|[^|]*\| ([\d.]+)[^|]*\| ([\d.]+)[^|]*\|", re.M)


def words_of(page: Path) -> str:
    """Return what a reader of a page sees, in one line."""
    code = re.sub(r"(?s)<(script|style).*?</\1>", "", page.read_text(encoding="utf-8"))
    return re.sub(r"\s+", " ", html.unescape(re.sub("<[^>]+>", " ", code)))


def test_the_commands_make_the_page_with_the_numbers_of_the_readme(tmp_path: Path) -> None:
    clone = tmp_path / "dpol"
    succeed(run("git", "clone", "--quiet", str(ROOT), str(clone), folder=tmp_path))
    typed = "".join(block.code for block in blocks(README))
    path = [it for it in os.environ["PATH"].split(os.pathsep) if not (Path(it) / "dpol").exists()]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(ENVIRONMENTS)}
    done = subprocess.run(
        ["bash", "-eu", "-c", typed],
        cwd=clone,
        env={**kept, "PATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    succeed(done)
    text = README.read_text(encoding="utf-8")
    (page,) = re.findall(r"Open `(results/.+?index\.html)`", text)
    table = words_of(clone / page).partition("Table 2: total gain")[2].partition("New Mexico")[0]
    shown = {level: [*map(float, numbers)] for level, *numbers in PAGES.findall(table)}
    told = {level: [*map(float, numbers)] for level, *numbers in READMES.findall(text)}
    assert len(told) == 4
    for level, numbers in told.items():
        assert numbers == pytest.approx(shown[level], abs=0.0501)  # rounded twice

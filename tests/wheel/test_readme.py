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
PLAY, TEST = blocks(README)
ENVIRONMENTS = "CONDA", "PYTHON", "VIRTUAL_ENV"
"""Beginnings of the names of variables that lead to a Python."""
LEVEL = r"μ = (∞|[\d.]+)"
PAGES = re.compile(LEVEL + r" ([\d.]+) (?:± [\d.]+|exact) ([\d.]+) (?:± [\d.]+|exact)")
READMES = re.compile(r"^\| (∞|[\d.]+)[^|]*\|[^|]*\| ([\d.]+)[^|]*\| ([\d.]+)[^|]*\|", re.M)


def words_of(page: Path) -> str:
    """Return what a reader of a page sees, in one line."""
    code = re.sub(r"(?s)<(script|style).*?</\1>", "", page.read_text(encoding="utf-8"))
    return re.sub(r"\s+", " ", html.unescape(re.sub("<[^>]+>", " ", code)))


def type_in_a_fresh_clone(code: str, folder: Path) -> tuple[Path, str]:
    """Type a block of the README in a new clone, without caches; return clone and output."""
    clone = folder / "dpol"
    succeed(run("git", "clone", "--quiet", str(ROOT), str(clone), folder=folder))
    folders = os.environ["PATH"].split(os.pathsep)
    path = [place for place in folders if not (Path(place) / "dpol").exists()]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(ENVIRONMENTS)}
    done = subprocess.run(
        ["bash", "-eu", "-c", code],
        cwd=clone,
        env={**kept, "PATH": os.pathsep.join(path), "XDG_CACHE_HOME": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    return clone, succeed(done)


def test_the_readme_has_one_line_that_plays_and_one_that_tests() -> None:
    assert [block.code.count("\n") for block in (PLAY, TEST)] == [1, 1]


def test_the_first_command_makes_the_page_with_the_numbers_of_the_readme(tmp_path: Path) -> None:
    clone, _ = type_in_a_fresh_clone(PLAY.code, tmp_path)
    text = README.read_text(encoding="utf-8")
    (page,) = re.findall(r"Open `(results/.+?index\.html)`", text)
    table = words_of(clone / page).partition("Table 2: total gain")[2].partition("New Mexico")[0]
    shown = {level: [*map(float, numbers)] for level, *numbers in PAGES.findall(table)}
    told = {level: [*map(float, numbers)] for level, *numbers in READMES.findall(text)}
    assert len(told) == 4
    for level, numbers in told.items():
        assert numbers == pytest.approx(shown[level], abs=0.0501)  # rounded twice


def test_the_second_command_passes_the_tests(tmp_path: Path) -> None:
    _, output = type_in_a_fresh_clone(TEST.code, tmp_path)
    assert re.search(r"\d+ passed", output)

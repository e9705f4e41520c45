"""A stranger's first hour, from the files of a release alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from pipeline import ROOT, run, succeed

LOCKS = "requirements/dev.txt", "weekly/requirements.txt"


def test_all_that_a_stranger_does_first(tmp_path: Path) -> None:
    """With the locked versions, as PyPI has newer ones every day."""
    for project, target in ((ROOT, ()), (ROOT / "weekly", ("--target", "wheel"))):
        build = sys.executable, "-m", "hatchling", "build", *target
        succeed(run(*build, "--directory", str(tmp_path / "dist"), folder=project))
    pins = [
        pin
        for lock in LOCKS
        for pin in re.findall(r"^([a-z0-9][^\\\n]*?) *\\$", (ROOT / lock).read_text(), re.M)
    ]
    (tmp_path / "pins.txt").write_text("\n".join(pins))
    (tmp_path / "home").mkdir()
    variables = {"PIP_CONSTRAINT": str(tmp_path / "pins.txt"), "PYTHONPATH": ""}
    done = subprocess.run(
        [ROOT / "tests/wheel/stranger.sh", tmp_path / "dist"],
        cwd=tmp_path / "home",
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert succeed(done).count("\n== ") == 6

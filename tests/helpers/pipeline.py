"""Real runs of the pipeline, each in its own folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
SMALL: dict[str, Any] = yaml.safe_load((ROOT / "tests/workflow/small.yaml").read_text())
"""A config that runs in seconds."""

Done = subprocess.CompletedProcess[str]


def write_config(folder: Path, config: Mapping[str, Any] = SMALL, **changes: Any) -> None:
    """Write the config.yaml of a folder, with changes of some keys."""
    (folder / "config.yaml").write_text(yaml.safe_dump({**config, **changes}))


def command(folder: Path, *options: str, config: Path | str = "config.yaml") -> list[str]:
    """Return the command of Snakemake in a folder with its config."""
    start = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    return [*start, "--directory", str(folder), "--configfile", str(folder / config), *options]


def snakemake(folder: Path, *options: str, config: Path | str = "config.yaml") -> Done:
    """Run Snakemake on two cores."""
    return run(*command(folder, "--cores", "2", *options, config=config))


def run(*words: str, folder: Path | None = None, **variables: str) -> Done:
    """Run a program to its end."""
    return subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def succeed(done: Done) -> str:
    """Assert that a program succeeded, and return its output."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def fail(done: Done) -> str:
    """Assert that a program failed without a traceback, and return its error output."""
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    return done.stderr


@contextmanager
def written_as_before(file: Path) -> Iterator[None]:
    """Keep the time of a file that is changed, as programs that copy or unpack do."""
    time = file.stat().st_mtime
    yield
    os.utime(file, (time, time))


def build(target: str, folder: Path) -> None:
    """Build the wheel or sdist of dpol into a folder, with the installed packages."""
    words = [sys.executable, "-m", "hatchling", "build", "--target", target]
    succeed(run(*words, "--directory", str(folder), folder=ROOT))

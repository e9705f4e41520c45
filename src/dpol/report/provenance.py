"""From what a page was made: versions, commit, config, and how long each stage took."""

from __future__ import annotations

import csv
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import dpol
from dpol.show.plain import Cell, PlainTable, number

PACKAGES = (
    *("numpy", "scipy", "pandas", "pyarrow", "matplotlib", "pydantic", "dp-accounting"),
    "snakemake",
)
"""Packages whose versions are told."""


@dataclass(frozen=True)
class Provenance:
    """From what a page was made, beside the files of the run.

    Args:
        config_name: the config files, by name.
        config_text: the config as YAML.
        versions: package and version.
        commit: of the checkout, in words; None if it is not one.
        stages: wall and CPU time of each stage.
    """

    config_name: str
    config_text: str
    versions: tuple[tuple[str, str], ...]
    commit: str | None
    stages: tuple[Stage, ...]


@dataclass(frozen=True)
class Stage:
    """What the jobs of a rule took: seconds of all together, and the largest memory in MB."""

    name: str
    jobs: int
    wall: float
    cpu: float
    memory: float


def installed_versions() -> tuple[tuple[str, str], ...]:
    """Of Python, dpol and the packages that the numbers depend on."""
    own = [("Python", platform.python_version()), ("dpol", dpol.__version__)]
    found = []
    for name in PACKAGES:
        try:
            found.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            continue
    return (*own, *found)


def commit_of(folder: Path | str) -> str | None:
    """The commit of a git checkout, and whether files differ from it; None if it is not one."""
    if not (Path(folder) / ".git").exists():
        return None
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{commit}, with changes that are not committed" if changed else commit


def _git(folder: Path | str, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    return done.stdout.strip()


def read_stages(files: Iterable[Path], folder: Path) -> tuple[Stage, ...]:
    """Times from benchmark files, a stage per first part of their path below `folder`.

    Files that are not there, or cannot be read, are left out: a table that was there before the
    run was fetched by no job of it.
    """
    found: dict[str, list[tuple[float, float, float]]] = {}
    for file in files:
        times = _times(file)
        if times is not None:
            name = file.relative_to(folder).with_suffix("").parts[0]
            found.setdefault(name, []).append(times)
    return tuple(
        Stage(
            name,
            len(times),
            sum(wall for wall, _, _ in times),
            sum(cpu for _, cpu, _ in times),
            max(memory for _, _, memory in times),
        )
        for name, times in found.items()
    )


def _times(file: Path) -> tuple[float, float, float] | None:
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            row = next(csv.DictReader(lines, delimiter="\t"))
        # A job that is over at once was never measured but for its time.
        cpu, memory = (0.0 if row[it] in ("-", "NA") else float(row[it]) for it in _MEASURED)
        return float(row["s"]), cpu, memory
    except (OSError, LookupError, ValueError, TypeError, StopIteration):
        return None


_MEASURED = ("cpu_time", "max_rss")


def stage_table(stages: Iterable[Stage]) -> PlainTable:
    """Times of the stages, the longest first, and of all together."""
    ordered = sorted(stages, key=lambda stage: (-stage.wall, stage.name))
    rows = [
        (
            Cell(stage.name.replace("_", " ")),
            number(stage.jobs),
            number(stage.wall, f"{stage.wall:,.1f}"),
            number(stage.cpu, f"{stage.cpu:,.1f}"),
            number(stage.memory, f"{stage.memory:,.0f}"),
        )
        for stage in ordered
    ]
    jobs = sum(stage.jobs for stage in ordered)
    wall, cpu = (sum(times) for times in zip(*((it.wall, it.cpu) for it in ordered), strict=True))
    return PlainTable(
        "stages",
        "Time of each stage",
        ("stage", "jobs", "wall time, s", "CPU time, s", "peak memory, MB"),
        tuple(rows),
        (
            f"All together: {jobs:,} jobs, {wall:,.0f} s of wall time one after the other,"
            f" {cpu:,.0f} s of CPU time. Measured by Snakemake; times of jobs that ran side by"
            " side are added up, and what is over before the first measurement counts as 0 s of CPU"
            " time. This page is not among them.",
        ),
    )

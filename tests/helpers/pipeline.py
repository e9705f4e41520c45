"""Real runs of the pipeline, each in its own folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from dpol.config.experiment import parse_experiment
from dpol.data.simulator import simulate_hospitals
from dpol.data.table import write_raw_table

ROOT = Path(__file__).parents[2]
MODULE = ROOT / "workflow/Snakefile"
"""The Snakefile that others import."""
SMALL: dict[str, Any] = yaml.safe_load((ROOT / "tests/workflow/small.yaml").read_text())
"""A config that runs in seconds."""
TEST: dict[str, Any] = yaml.safe_load((ROOT / ".test/config/config.yaml").read_text())
"""The config of the workflow's own test, which is smaller."""

Done = subprocess.CompletedProcess[str]


def write_config(folder: Path, config: Mapping[str, Any] = SMALL, **changes: Any) -> None:
    """Write the config.yaml of a folder, with changes of some keys."""
    folder.mkdir(exist_ok=True)
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


def import_it(folder: Path, rest: str = "", **configs: Mapping[str, Any]) -> Path:
    """A Snakefile that imports the workflow once for each config, under its name."""
    (folder / "config").mkdir(exist_ok=True)
    # The importer's: dpol may neither read it nor take keys from it.
    (folder / "config/config.yaml").write_text("replicats: 5\n")
    (folder / "importer.yaml").write_text(yaml.safe_dump(configs))
    modules = "".join(
        f'module {name}:\n    snakefile: "{MODULE}"\n    config: config["{name}"]\n'
        f"use rule * from {name} as {name}_*\n"
        for name in configs
    )
    (folder / "Snakefile").write_text(f'configfile: "importer.yaml"\n{modules}{rest}')
    return folder / "Snakefile"


def plan_pages(folder: Path, rest: str = "", **configs: Mapping[str, Any]) -> None:
    """Plan the pages of all configs, whose runs have their names, in one dry run."""
    for name, raw in configs.items():
        config = parse_experiment(raw, name)
        if config.dataset.source.kind in ("local", "gains"):
            (folder / config.raw_file).parent.mkdir(parents=True, exist_ok=True)
            (folder / config.raw_file).touch()
    snakefile = import_it(folder, rest, **configs)
    words = "--snakefile", str(snakefile), "--directory", str(folder), "--cores", "1"
    pages = (f"results/{name}/report/index.html" for name in configs)
    said = succeed(run(sys.executable, "-m", "snakemake", *words, "--dry-run", *pages))
    for name in configs:
        assert f"{name}_games_results" in said


def copy_code(folder: Path) -> None:
    """Copy dpol and its workflow into a folder."""
    for name in ("src", "workflow", "profiles"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "Snakefile", folder)


COPY = sys.executable, "-m", "snakemake", "--configfile", "config.yaml", "--cores", "2"
"""The command of Snakemake in a folder with a copy of dpol."""


def call_copy(folder: Path, *options: str, **variables: str) -> Done:
    """Run Snakemake on the copy of dpol in a folder."""
    return run(*COPY, *options, folder=folder, **{"PYTHONPATH": str(folder / "src"), **variables})


def write_table(folder: Path, hospitals: Mapping[str, int], seed: int) -> None:
    """Write table.csv.gz of simulated hospitals into a folder."""
    table = simulate_hospitals(hospitals, 20, date(2021, 1, 3), seed)
    write_raw_table(table, folder / "table.csv.gz")


def copy_results(folder: Path) -> None:
    """Copy results as `cp -r` does, which keeps no time, without Snakemake's records."""
    shutil.copytree(folder / "results", folder / "copy", copy_function=shutil.copyfile)
    shutil.rmtree(folder / "results")
    (folder / "copy").rename(folder / "results")
    shutil.rmtree(folder / ".snakemake")


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

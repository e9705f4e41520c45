"""Folders in which snakemake runs, on this machine or on the cluster."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from slurm import one_node

ROOT = Path(__file__).parents[2]
# Of the small config: what plays and sums up, and one study.
KEPT = (
    "run",
    "seed",
    "dataset",
    "streams",
    "privacy",
    "suites",
    "replicates",
    "report",
    "batching",
)
TARGETS = [
    f"results/small/{name}"
    for name in ("summary.parquet", "tables/average-gain.csv", "batching.parquet")
]
# Ask often, because this cluster is nobody else's; everything else is as users have it.
QUICK = [
    *("--slurm-init-seconds-before-status-checks", "2"),
    *("--seconds-between-status-checks", "2"),
    *("--max-status-checks-per-second", "10"),
]


@dataclass(frozen=True)
class Project:
    """A folder with a config, and the cluster on which its jobs may run."""

    folder: Path
    cluster: Path

    def start(self, *options: str, slurm: bool = True) -> subprocess.Popen[str]:
        """A snakemake that runs beside the test; what it says goes to snakemake.log."""
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
        command += ["--directory", str(self.folder), "--configfile", "config.yaml"]
        if slurm:
            command += ["--profile", str(ROOT / "profiles/slurm"), *QUICK]
        else:
            command += ["--cores", "2"]
        with self.log.open("w") as log:
            return subprocess.Popen(
                [*command, *options],
                cwd=self.folder,
                env=one_node.environment(self.cluster),
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
                # A test in the background of a shell ignores SIGINT, and so would its children.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )

    def run(self, *options: str, slurm: bool = True) -> str:
        """Run snakemake to its successful end; returns what it said."""
        return self.finish(self.start(*options, slurm=slurm))

    def finish(self, started: subprocess.Popen[str]) -> str:
        """Wait for a snakemake to end, which must be a success; returns what it said."""
        code = started.wait(timeout=600)
        text = self.log.read_text()
        assert code == 0, text
        return text

    @property
    def log(self) -> Path:
        return self.folder / "snakemake.log"

    @property
    def base(self) -> Path:
        return self.folder / "results/small"

    def results(self) -> dict[str, bytes]:
        """The files that must not depend on how the run was made."""
        names = ("summary.parquet", "cumulative.parquet", "tables/average-gain.csv")
        return {name: (self.base / name).read_bytes() for name in names}


def write_config(folder: Path, **changes: Any) -> None:
    """The small config without its studies."""
    small = yaml.safe_load((ROOT / "tests/workflow/small.yaml").read_text())
    kept = {key: small[key] for key in KEPT}
    (folder / "config.yaml").write_text(yaml.safe_dump({**kept, **changes}))

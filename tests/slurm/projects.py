"""Folders in which snakemake runs, on this machine or on the cluster."""

from __future__ import annotations

import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import psutil

from dpol.studies.registry import STUDIES
from pipeline import ROOT, SMALL, command
from slurm import one_node

# Of the small config: what plays and sums up. Four jobs play, one for each block of replicates.
CONFIG = {key: value for key, value in SMALL.items() if key not in STUDIES} | {
    "streams": {"A": {"groups": ["A"]}},
    "privacy": {"levels": [0.5]},
    "replicates": 401,
    "suites": {"local": {"algorithms": ["rw-ftpl", {"algorithm": "ridge", "windows": [4]}]}},
    "report": {"algorithms": ["rw-ftpl"]},
}
SUMMARY, TABLE = "results/small/summary.parquet", "results/small/tables/league.csv"
SCRIPT = "study_point"
"""The script of the jobs that tests disturb."""
# Ask often, because this cluster is nobody else's; everything else is as users have it.
QUICK = ["--slurm-init-seconds-before-status-checks=2", "--seconds-between-status-checks=2"]
QUICK += ["--max-status-checks-per-second=10"]
ASK_EVERY_SECOND = """
from snakemake.cli import main
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

RemoteExecutor.next_seconds_between_status_checks = property(lambda _: 1.0, lambda *_: None)
main()
"""
"""Snakemake whose plugin does not wait 10 s longer each time no job has ended."""


@dataclass(frozen=True)
class Project:
    """A folder with a config, and the cluster on which its jobs may run."""

    folder: Path
    cluster: Path

    def copy(self, folder: Path) -> Project:
        """A copy of the project in another folder."""
        return Project(shutil.copytree(self.folder, folder), self.cluster)

    def start(self, *options: str, slurm: bool = True) -> subprocess.Popen[str]:
        """A snakemake that runs during the test; its output goes to snakemake.log."""
        profile = ["--workflow-profile", str(ROOT / "profiles/slurm"), *QUICK]
        words = command(self.folder, *(profile if slurm else ["--cores", "2"]), *options)
        if slurm:
            words[1:3] = ["-c", ASK_EVERY_SECOND]
        with self.log.open("w") as log:
            return subprocess.Popen(
                words,
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
        assert started.wait(timeout=600) == 0, self.said()
        return self.said()

    def fail(self, *options: str, slurm: bool = True) -> str:
        """Run snakemake to an early end, which must be no success; returns what it said."""
        assert self.start(*options, slurm=slurm).wait(timeout=60) != 0
        assert not (self.folder / SUMMARY).exists()
        return self.said()

    def said(self) -> str:
        """Return what the last snakemake printed, and what it wrote to its own log."""
        logs = sorted(self.folder.glob(".snakemake/log/*"))
        return "\n".join(log.read_text() for log in (self.log, *logs[-1:]))

    def jobs(self) -> list[psutil.Process]:
        """Processes of jobs that are in the middle of `SCRIPT`; waits for the first."""
        return one_node.wait_until(lambda: one_node.job_processes(self.cluster, SCRIPT), SCRIPT)

    @property
    def log(self) -> Path:
        return self.folder / "snakemake.log"

    @property
    def base(self) -> Path:
        return self.folder / "results/small"

    def results(self) -> set[tuple[str, bytes]]:
        """Those of the files that must not depend on how the run was made that are there."""
        names = ("summary.parquet", "cumulative.parquet", "tables/league.csv")
        files = {name: self.base / name for name in names}
        return {(name, file.read_bytes()) for name, file in files.items() if file.exists()}

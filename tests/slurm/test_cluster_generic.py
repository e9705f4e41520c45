"""A real run through `profiles/cluster-generic`, with a stand-in for qsub that queues here."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from pipeline import ROOT, command, write_config
from slurm.projects import CONFIG, Project

pytestmark = pytest.mark.slurm


def test_jobs_that_qsub_queues_make_the_results_of_one_machine(
    cluster: Path, expected: set[tuple[str, bytes]], tmp_path: Path
) -> None:
    project, queue, programs = Project(tmp_path / "project", cluster), tmp_path / "queue", tmp_path
    for folder in (project.folder, queue):
        folder.mkdir()
    (programs / "qsub").symlink_to(ROOT / "tests/slurm/qsub")
    write_config(project.folder, CONFIG)
    profile = "--workflow-profile", str(ROOT / "profiles/cluster-generic"), "--latency-wait=5"
    variables = {"QUEUE": str(queue), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        command(project.folder, *profile, "--verbose"),
        cwd=project.folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert project.results() == expected
    asked = [file.read_text() for file in queue.glob("*.asked")]
    planned = re.search(r"^total +(\d+)$", done.stdout + done.stderr, re.MULTILINE)
    assert planned
    assert len(asked) == int(planned[1]) - 1  # only `all` is done by snakemake itself
    assert all(re.match(r"-V -l mem=\d+mb,walltime=\d+:00 \S", words) for words in asked)

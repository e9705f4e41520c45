"""Real runs on a real Slurm of one node: whole, and with everything that can die, dying.

Whatever happens, a run that ends well has the bytes of a run on one machine. So has one through
`profiles/cluster-generic`, with a stand-in for qsub that queues here.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from code_blocks import Reader, copy_project, run_page
from pipeline import ROOT, command, write_config
from slurm import one_node
from slurm.projects import CONFIG, QUICK, SCRIPT, SUMMARY, Project

Results = set[tuple[str, bytes]]

pytestmark = pytest.mark.slurm


def state(project: Project, job: str) -> str:
    """Slurm's word for the state of a job: RUNNING, CANCELLED, ..."""
    options = ["--states=all", "--noheader", "--format=%T", f"--jobs={job}"]
    return one_node.run(project.cluster, "squeue", *options).strip()


def test_results_are_those_of_a_run_on_one_machine(
    cluster: Path, expected: Results, tmp_path: Path
) -> None:
    project = Project(tmp_path, cluster)
    write_config(project.folder, CONFIG)
    text = project.run()
    assert project.results() == expected
    jobs = {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", text, re.MULTILINE)}
    assert jobs["games_point"] == 4
    # All on the cluster and none twice; only `all` is done by snakemake itself.
    assert text.count("submitted with SLURM jobid") == jobs["total"] - 1
    assert "Nothing to be done" in project.run()


def test_killed_and_cancelled_jobs_are_run_again(project: Project, expected: Results) -> None:
    started = project.start(SUMMARY)
    killed = project.jobs()[0]
    failed = one_node.job_of(killed)
    one_node.kill([killed])

    def other_jobs() -> list[str]:
        return [job for job in map(one_node.job_of, project.jobs()) if job not in ("", failed)]

    cancelled = one_node.wait_until(other_jobs, "another job")[0]
    one_node.run(project.cluster, "scancel", cancelled)
    text = project.finish(started)
    assert project.results() <= expected
    assert [state(project, job) for job in (failed, cancelled)] == ["FAILED", "CANCELLED"]
    assert text.count("Trying to restart") == 2


def test_a_job_above_its_memory_is_run_again_with_more(project: Project) -> None:
    panel = project.base / "data/rows.parquet"
    before = panel.read_bytes()
    panel.unlink()
    # One process of Snakemake alone takes more than 150 MB, for longer than Slurm's second
    # between two looks; 1,200 MB are enough for all three.
    memory = "read_rows:mem_mb=150 * attempt**3"
    text = project.run("results/small/data/rows.parquet", "--set-resources", memory)
    assert panel.read_bytes() == before
    assert text.count("Trying to restart") == 1


def test_a_scheduler_killed_for_long_comes_back(project: Project, expected: Results) -> None:
    started = project.start(SUMMARY, "--slurm-status-attempts", "1")
    project.jobs()
    # The scheduler writes down what it knows every 5 s; what is younger dies with it. So hold the
    # jobs in the middle of their scripts until it has.
    held: set[psutil.Process] = set()
    for _ in range(14):
        held.update(one_node.job_processes(project.cluster, SCRIPT))
        one_node.kill(held, signal.SIGSTOP)
        time.sleep(0.5)
    one_node.kill(one_node.processes(project.cluster, "slurmctld"))
    assert one_node.node_state(project.cluster) == ""
    # Away until Snakemake has asked in vain: now it waits for ever (docs/how-to/elsewhere.md).
    one_node.wait_until(lambda: "Falling back to 'sacct'" in project.said(), "a question")
    one_node.run(project.cluster, "/usr/sbin/slurmctld")
    one_node.kill(held, signal.SIGCONT)
    one_node.wait_until(
        lambda: len(list(project.base.glob("games/**/scores.parquet"))) == 4, "the runs"
    )
    started.send_signal(signal.SIGINT)
    assert started.wait(timeout=60) != 0
    assert not (project.base / "summary.parquet").exists()
    project.run(SUMMARY)
    assert project.results() <= expected


def test_a_node_that_dies_comes_back(project: Project, expected: Results) -> None:
    started = project.start(SUMMARY)
    project.jobs()
    one_node.kill_node(project.cluster)
    one_node.wait_until(lambda: "down" in one_node.node_state(project.cluster), "its death", 120)
    one_node.run(project.cluster, "/usr/sbin/slurmd")
    text = project.finish(started)
    assert project.results() <= expected
    assert "Trying to restart" in text


def test_killed_snakemake_continues(project: Project, expected: Results) -> None:
    started = project.start(SUMMARY)
    project.jobs()
    started.kill()
    started.wait()
    # What was submitted runs on: end it, as docs/how-to/elsewhere.md says.
    (run,) = re.findall(r"SLURM run ID: (\S+)", project.said())
    one_node.run(project.cluster, "scancel", f"--name={run}")
    assert "--unlock" in project.fail(SUMMARY)
    project.run("--unlock")
    project.run(SUMMARY)
    assert project.results() <= expected


def test_code_blocks_of_the_manual_run(cluster: Path, tmp_path: Path) -> None:
    """One job of the page's run is enough: the others differ from it by their rules alone."""
    page = ROOT / "docs/how-to/elsewhere.md"
    options = [*QUICK, "--until", "read_rows"]
    reader = Reader(copy_project(tmp_path), one_node.environment(cluster), options)
    run_page(page, reader, left_out="tests/slurm runs it on a cluster")


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

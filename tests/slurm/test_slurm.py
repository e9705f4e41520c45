"""Real runs on a real Slurm of one node: whole, and with everything that can die, dying.

Whatever happens, a run that ends well has the bytes of a run on one machine.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from code_blocks import Reader, copy_project, run_page
from pipeline import ROOT, write_config
from slurm import one_node
from slurm.projects import CONFIG, QUICK, TARGETS, Project

pytestmark = pytest.mark.slurm


def wait_for_script(project: Project, script: str = "study_point") -> list[int]:
    """Wait until a job is in the middle of a script; returns the processes."""
    return one_node.wait_until(lambda: one_node.job_processes(project.cluster, script), script)


def state(project: Project, job: str) -> str:
    """Slurm's word for the state of a job: RUNNING, CANCELLED, ..."""
    options = ["--states=all", "--noheader", "--format=%T", f"--jobs={job}"]
    return one_node.run(project.cluster, "squeue", *options).strip()


def test_results_are_those_of_a_run_on_one_machine(cluster: Path, tmp_path: Path) -> None:
    projects = {}
    for name in ("local", "slurm"):
        (tmp_path / name).mkdir()
        write_config(tmp_path / name, CONFIG, streams={"both": {"groups": ["A", "B"]}})
        projects[name] = Project(tmp_path / name, cluster)
    projects["local"].run(slurm=False)
    text = projects["slurm"].run()
    assert projects["slurm"].results() == projects["local"].results()
    jobs = {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", text, re.MULTILINE)}
    assert jobs["hospitals_point"] == 7
    # All on the cluster and none twice; only `all` is done by snakemake itself.
    assert text.count("submitted with SLURM jobid") == jobs["total"] - 1
    assert "Nothing to be done" in projects["slurm"].run()


def test_killed_and_cancelled_jobs_are_run_again(
    project: Project, expected: dict[str, bytes]
) -> None:
    started = project.start(*TARGETS)
    killed = wait_for_script(project)[0]
    failed = one_node.job_of(killed)
    one_node.kill([killed])

    def other_jobs() -> list[str]:
        pids = one_node.job_processes(project.cluster, "study_point")
        return [job for job in map(one_node.job_of, pids) if job not in ("", failed)]

    cancelled = one_node.wait_until(other_jobs, "another job")[0]
    one_node.run(project.cluster, "scancel", cancelled)
    text = project.finish(started)
    assert project.results() == expected
    assert [state(project, job) for job in (failed, cancelled)] == ["FAILED", "CANCELLED"]
    assert text.count("Trying to restart") == 2


def test_a_job_above_its_memory_is_run_again_with_more(project: Project) -> None:
    panel = project.base / "data/panel.parquet"
    before = panel.read_bytes()
    panel.unlink()
    # One process of Snakemake alone takes more than 150 MB, for longer than Slurm's second
    # between two looks; 1,200 MB are enough for all three.
    memory = "clean_panel:mem_mb=150 * attempt**3"
    text = project.run("results/small/data/panel.parquet", "--set-resources", memory)
    assert panel.read_bytes() == before
    assert text.count("Trying to restart") == 1


def test_a_scheduler_killed_for_long_comes_back(
    project: Project, expected: dict[str, bytes]
) -> None:
    started = project.start(*TARGETS, "--slurm-status-attempts", "1")
    wait_for_script(project)
    # The scheduler writes down what it knows every 5 s; what is younger dies with it. So hold the
    # jobs in the middle of their scripts until it has.
    held: set[int] = set()
    for _ in range(20):
        held.update(one_node.job_processes(project.cluster, "study_point"))
        one_node.kill([*held], signal.SIGSTOP)
        time.sleep(0.5)
    one_node.kill(one_node.processes(project.cluster, "slurmctld"))
    assert one_node.node_state(project.cluster) == ""
    # Away until Snakemake has asked in vain: now it waits for ever (docs/how-to/slurm.md).
    one_node.wait_until(lambda: "Falling back to 'sacct'" in project.log.read_text(), "a question")
    one_node.start_daemon(project.cluster, "slurmctld")
    one_node.kill([*held], signal.SIGCONT)
    one_node.wait_until(lambda: len(list(project.base.glob("runs/**/*.parquet"))) == 3, "the runs")
    started.send_signal(signal.SIGINT)
    assert started.wait(timeout=60) != 0
    assert not (project.base / "summary.parquet").exists()
    project.run(*TARGETS)
    assert project.results() == expected


def test_a_node_that_dies_comes_back(project: Project, expected: dict[str, bytes]) -> None:
    started = project.start(*TARGETS)
    wait_for_script(project)
    one_node.kill_node(project.cluster)
    one_node.wait_until(
        lambda: one_node.node_state(project.cluster).startswith("down"), "a dead node", 120
    )
    one_node.start_daemon(project.cluster, "slurmd")
    text = project.finish(started)
    assert project.results() == expected
    assert "Trying to restart" in text


def test_killed_snakemake_continues(project: Project, expected: dict[str, bytes]) -> None:
    started = project.start(*TARGETS)
    wait_for_script(project)
    started.kill()
    started.wait()
    # What was submitted runs on: end it, as docs/how-to/slurm.md says.
    (run,) = re.findall(r"SLURM run ID: (\S+)", project.log.read_text())
    one_node.run(project.cluster, "scancel", f"--name={run}")
    assert "--unlock" in project.fail(*TARGETS)
    project.run("--unlock")
    project.run(*TARGETS)
    assert project.results() == expected


def test_a_truncated_file_is_never_taken_for_a_result(
    project: Project, expected: dict[str, bytes]
) -> None:
    project.run(*TARGETS, slurm=False)
    assert project.results() == expected
    for path, share in zip(
        sorted(project.base.glob("runs/**/*.parquet")), (0, 0.5, 0.99), strict=True
    ):
        whole = path.read_bytes()
        path.write_bytes(whole[: int(share * len(whole))])
        project.fail(*TARGETS, slurm=False)
        path.unlink()
        project.run(*TARGETS, slurm=False)
        assert project.results() == expected


def test_code_blocks_of_the_manual_run(cluster: Path, tmp_path: Path) -> None:
    page = ROOT / "docs/how-to/slurm.md"
    run_page(page, Reader(copy_project(tmp_path), one_node.environment(cluster), QUICK))


def traces() -> dict[Path, float]:
    """Times of the last change of Slurm's and munge's usual places."""
    folders = [Path(name) for name in ("/etc", "/run", "/var/lib", "/var/log", "/var/spool")]
    roots = [path for each in folders for kind in ("slurm*", "munge*") for path in each.glob(kind)]
    return {path: path.stat().st_mtime for root in roots for path in [root, *root.rglob("*")]}


def test_a_killed_test_leaves_nothing(tmp_path: Path) -> None:
    before = traces()
    folder = tmp_path / "cluster"
    program = f"""
import pathlib, sys, time
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from pipeline import ROOT, write_config
from slurm import one_node
with one_node.guarded(pathlib.Path({str(folder)!r})):
    one_node.run(pathlib.Path({str(folder)!r}), "sbatch", "--wrap=sleep 600")
    print("up", flush=True)
    time.sleep(600)
"""
    user = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=tmp_path)
    assert user.stdout is not None
    assert user.stdout.readline() == b"up\n"
    assert len(one_node.processes(folder, "munged", "slurmctld", "slurmd")) == 3
    user.kill()
    user.communicate()
    one_node.wait_until(lambda: not one_node.processes(folder), "everything to end")
    assert traces() == before

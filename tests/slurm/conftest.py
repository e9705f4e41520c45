"""One cluster for all tests, and the results they must all come to."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import write_config
from slurm import one_node
from slurm.projects import CONFIG, TARGETS, Project


@pytest.fixture(scope="session")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("slurm")


@pytest.fixture(scope="session")
def cluster(temporary: Path) -> Iterator[Path]:
    """The folder of a running cluster; it ends with this process, however that ends."""
    folder = temporary / "cluster"
    with one_node.guarded(folder):
        yield folder
    assert one_node.processes(folder) == []


@pytest.fixture(scope="session")
def prepared(temporary: Path, cluster: Path) -> Project:
    """One stream made on this machine; the jobs that play on it (three) are still to be done."""
    folder = temporary / "prepared"
    folder.mkdir()
    suites = {
        "local": {"algorithms": ["rw-ftpl", {"algorithm": "ridge", "windows": [4]}]},
        "non-private": {"algorithms": ["follow-the-leader"]},
    }
    write_config(
        folder,
        CONFIG,
        suites=suites,
        streams={"A": {"groups": ["A"]}},
        report={"algorithms": ["rw-ftpl"]},
    )
    project = Project(folder, cluster)
    project.run("streams", slurm=False)
    return project


@pytest.fixture
def project(prepared: Project, tmp_path: Path) -> Project:
    """A copy of the prepared folder."""
    shutil.copytree(prepared.folder, tmp_path / "project")
    return Project(tmp_path / "project", prepared.cluster)


@pytest.fixture(scope="session")
def expected(prepared: Project, temporary: Path) -> dict[str, bytes]:
    """The results of the prepared folder when nothing goes wrong and there is no cluster."""
    shutil.copytree(prepared.folder, temporary / "expected")
    local = Project(temporary / "expected", prepared.cluster)
    local.run(*TARGETS, slurm=False)
    return local.results()

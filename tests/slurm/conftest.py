"""One cluster for all tests, and the results they must all come to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import write_config
from slurm import one_node
from slurm.projects import CONFIG, TARGETS, Project


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a running cluster; it ends with this process, however that ends."""
    folder = tmp_path_factory.mktemp("slurm")
    with one_node.guarded(folder):
        yield folder
    assert one_node.processes(folder) == []


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory, cluster: Path) -> Project:
    """One stream made on this machine; the jobs that play on it (three) are still to be done."""
    project = Project(tmp_path_factory.mktemp("prepared"), cluster)
    local = {"algorithms": ["rw-ftpl", {"algorithm": "ridge", "windows": [4]}]}
    write_config(
        project.folder,
        CONFIG,
        suites={"local": local, "non-private": {"algorithms": ["follow-the-leader"]}},
        streams={"A": {"groups": ["A"]}},
        report={"algorithms": ["rw-ftpl"]},
    )
    project.run("streams", slurm=False)
    return project


@pytest.fixture
def project(prepared: Project, tmp_path: Path) -> Project:
    """A copy of the prepared folder."""
    return prepared.copy(tmp_path / "project")


@pytest.fixture(scope="session")
def expected(prepared: Project, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The results of the prepared folder when nothing goes wrong and there is no cluster."""
    local = prepared.copy(tmp_path_factory.mktemp("expected") / "project")
    local.run(*TARGETS, slurm=False)
    return local.results()

"""One cluster for all tests, and the results they must all come to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline import write_config
from slurm import one_node
from slurm.projects import CONFIG, TABLE, Project


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a running cluster; it ends with this process, however that ends."""
    folder = tmp_path_factory.mktemp("slurm")
    with one_node.guarded(folder):
        yield folder
    assert one_node.processes(folder) == []


@pytest.fixture(scope="session")
def prepared(
    once: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory, cluster: Path
) -> Project:
    """The stream, made on this machine; the jobs that play on it are still to be done."""

    def make() -> Path:
        project = Project(tmp_path_factory.mktemp("prepared"), cluster)
        write_config(project.folder, CONFIG)
        project.run("streams", slurm=False)
        return project.folder

    return Project(once("prepared", make), cluster)


@pytest.fixture
def project(prepared: Project, tmp_path: Path) -> Project:
    """A copy of the prepared folder."""
    return prepared.copy(tmp_path / "project")


@pytest.fixture(scope="session")
def expected(
    once: Callable[..., set[tuple[str, bytes]]],
    prepared: Project,
    tmp_path_factory: pytest.TempPathFactory,
) -> set[tuple[str, bytes]]:
    """The results of the prepared folder when nothing goes wrong and there is no cluster."""

    def make() -> set[tuple[str, bytes]]:
        local = prepared.copy(tmp_path_factory.mktemp("expected") / "project")
        local.run(TABLE, slurm=False)
        return local.results()

    return once("expected", make)

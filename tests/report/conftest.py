from pathlib import Path

import pytest

from report.run_by_hand import write_run


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with everything; tests must not change it."""
    folder = tmp_path_factory.mktemp("results") / "hand"
    write_run(folder)
    return folder

"""Fixtures of tests that read tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def here(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Likewise, and `dpol new dataset` leaves its picture blank, since drawing is slow."""
    monkeypatch.setattr("dpol.show.heat_map.heat_map", lambda *_: Figure((1, 1)))
    return empty_folder

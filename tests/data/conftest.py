"""Fixtures of tests that read tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder; `dpol new dataset` leaves its picture blank, as drawing is slow."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dpol.show.heat_map.heat_map", lambda *_: Figure((1, 1)))
    return tmp_path

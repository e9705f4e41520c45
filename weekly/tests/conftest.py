"""Settings of Hypothesis, and the folder of a test."""

from __future__ import annotations

import hypothesis
import pytest

hypothesis.settings.register_profile("dpol", derandomize=True, deadline=None, max_examples=40)
hypothesis.settings.load_profile("dpol")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path

"""Releases are made in an empty folder, which is the current one."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def anywhere(folder):
    return folder

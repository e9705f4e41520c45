"""A coordinator's folder."""

from __future__ import annotations

import pytest

from weekly import Coordinator


@pytest.fixture
def world(tmp_path):
    return Coordinator(tmp_path)

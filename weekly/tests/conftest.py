"""Settings of Hypothesis, the folder of a test, its clock, and a coordinator."""

from __future__ import annotations

import datetime
from types import SimpleNamespace

import hypothesis
import pytest

from dpol_weekly.coordinator import collect as collect_module
from dpol_weekly.holder import init as init_module
from dpol_weekly.holder import release as release_module
from weekly import Coordinator

hypothesis.settings.register_profile("dpol", derandomize=True, deadline=None, max_examples=40)
hypothesis.settings.load_profile("dpol")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def anywhere(request):
    """Tests of releases make them in an empty folder, which is the current one."""
    if request.path.parent.name in ("attacks", "holder"):
        request.getfixturevalue("folder")


@pytest.fixture
def world(tmp_path):
    """A coordinator's folder."""
    return Coordinator(tmp_path)


@pytest.fixture
def clock(monkeypatch):
    """The date of the computer, as its `now`."""

    class Today(datetime.date):
        now = datetime.date(2024, 1, 1)

        @classmethod
        def today(cls):
            return cls.now

    for module in (release_module, init_module, collect_module):
        named = SimpleNamespace(date=Today, timedelta=datetime.timedelta)
        monkeypatch.setattr(module, "datetime", named)
    return Today

"""Shared fixtures for the tests of audits."""

from __future__ import annotations

import pytest

from dpol.studies.audits.settings import Audits
from dpol.studies.audits.study import STUDY
from dpol.studies.jobs import compute


@pytest.fixture(scope="session")
def few_audits(once):
    """The audits with few runs."""
    return once("few-audits", lambda: compute(STUDY, Audits(runs=300), seed=1)["audits"])

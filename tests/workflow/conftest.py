"""A finished run that several test files copy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from pipeline import ROOT, run, succeed, write_config


@pytest.fixture(scope="session")
def small_run(
    once: Callable[..., tuple[Path, str]], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """The folder of a run of .test/config/config.yaml, to be copied, and what the run said."""

    def make() -> tuple[Path, str]:
        folder = tmp_path_factory.mktemp("small")
        write_config(folder, yaml.safe_load((ROOT / ".test/config/config.yaml").read_text()))
        words = sys.executable, "-m", "dpol", "run", "config.yaml", "--cores", "2"
        return folder, succeed(run(*words, folder=folder))

    return once("small-run", make)

"""Modules that draw and render: they import no algorithm."""

from __future__ import annotations

import subprocess
import sys

import pytest

ALGORITHMS = "dpol.experts", "dpol.labels", "dpol.lazy", "dpol.noise"
PACKAGES = "ledger.audits", "ledger.claims", "paper2.convex", "paper2.lazy", "paper3"


@pytest.mark.parametrize("package", PACKAGES)
def test_what_draws_imports_no_algorithm(package: str) -> None:
    code = (
        f"import sys, dpol.studies.{package}.drawn, dpol.studies.{package}.show;"
        f"print(*(name for name in sys.modules if name.startswith({ALGORITHMS})))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []

"""A job that draws and renders imports no algorithm, whatever it shows."""

from __future__ import annotations

import subprocess
import sys

from dpol.studies.registry import PACKAGES

ALGORITHMS = "dpol.experts", "dpol.labels", "dpol.lazy", "dpol.noise"
DRAWING = [
    "dpol.studies.showing",
    *(f"{package}.{name}" for package in PACKAGES.values() for name in ("show", "drawn")),
]


def test_what_draws_imports_no_algorithm() -> None:
    code = (
        f"import sys, {', '.join(DRAWING)};"
        f"print(*(name for name in sys.modules if name.startswith({ALGORITHMS})))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []

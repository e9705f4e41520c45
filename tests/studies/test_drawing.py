"""A job that draws imports no algorithm, and gets no fact that nothing draws."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

from dpol import studies
from dpol.studies.registry import load_studies
from dpol.studies.study import Facts

ALGORITHMS = "dpol.experts", "dpol.labels", "dpol.lazy", "dpol.noise"
STUDIES = load_studies().values()
DRAWING = [
    "dpol.studies.showing",
    *(study.showing for study in STUDIES),
    *{it for study in STUDIES for section in study.sections for it in section.drawing},
]


def test_what_draws_imports_no_algorithm() -> None:
    code = (
        f"import sys, {', '.join(DRAWING)};"
        f"print(*(name for name in sys.modules if name.startswith({ALGORITHMS})))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def test_exhibits_read_every_fact_that_they_are_given() -> None:
    """A change of any other would draw all figures again for nothing."""
    places = (Path(str(studies.__file__)).with_name(room) for room in ("answer", "paper1"))
    text = "".join(file.read_text() for place in places for file in place.glob("*.py"))
    assert [it.name for it in fields(Facts) if f"facts.{it.name}" not in text] == []

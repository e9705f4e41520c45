"""A job that draws imports no algorithm, and gets no fact that nothing draws."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import fields
from importlib import import_module
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


def fixed_findings(text: str) -> list[str]:
    """Return the findings of a module that no number can change: sentences without a value."""
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return [
        ast.unparse(call)
        for call in calls
        if ast.unparse(call.func) == "drawn.find"
        and not any(
            isinstance(part, ast.Name | ast.Attribute | ast.Call)
            for argument in call.args
            for part in ast.walk(argument)
        )
    ]


def test_every_finding_is_computed() -> None:
    drawing = {it for study in STUDIES for section in study.sections for it in section.drawing}
    texts = {it: Path(str(import_module(it).__file__)).read_text() for it in sorted(drawing)}
    assert {name: found for name, it in texts.items() if (found := fixed_findings(it))} == {}
    assert sum(it.count("drawn.find(") for it in texts.values()) >= 10

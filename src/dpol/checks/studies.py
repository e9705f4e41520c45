"""Conformance checks of studies: what a run asks of them before it computes anything."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

import yaml

from dpol.checks import CheckError
from dpol.core.plugins import load
from dpol.studies.registry import MAIN, load_study
from dpol.studies.study import Facts, Study, schemas_of

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")


def results_have_columns(study: Study) -> None:
    """`results.yaml` has the columns of each of its result tables, in their order."""
    if study.results != tuple(schemas_of(study)):
        raise CheckError(
            f"results are {study.results}, results.yaml has {tuple(schemas_of(study))}"
        )


def functions_fit(study: Study) -> None:
    """It stands as STUDY in its module; its functions are there, and take what jobs give."""
    if load(f"{study.module}:STUDY") is not study:
        raise CheckError(f"{study.module}:STUDY is another study; its module must hold it as STUDY")
    for reference in filter(None, (study.run, study.collect)):
        _takes(reference, 3)
    _takes(study.read, 1)


def sections_fit(study: Study) -> None:
    """The functions that show its sections are there, and show its results."""
    for section in study.every_section():
        for figure in section.figures:
            _takes(figure.draw, 3, *(["narrow"] if figure.place != "file" else []))
            if not (figure.description.endswith(".") and figure.title[0].isupper()):
                raise CheckError(
                    f"figure {figure.name}: the description must be a sentence, and the title"
                    " begin with a capital letter"
                )
        for table in section.tables:
            _takes(table.build, 3)
        shown = {*section.results, *(name for it in section.figures for name in it.results)}
        if unknown := shown - {*study.results, *load_study(MAIN).results}:
            raise CheckError(
                f"section {section.name} shows {sorted(unknown)}, which are results neither of"
                f" this study nor of {MAIN}"
            )
        if not section.about.endswith("."):
            raise CheckError(f"section {section.name}: about must be a sentence")


def points_are_plain(study: Study, settings: Any) -> None:
    """Points are plain values, with labels that name files."""
    points = study.points(settings, Facts({"A": "A", "B": "B"}, simulated=True, confidence=0.95))
    for label, point in points.items():
        if not _LABEL.fullmatch(label):
            raise CheckError(f"the label {label!r} of a point cannot name a file")
        if yaml.safe_load(yaml.safe_dump(dict(point))) != dict(point):
            raise CheckError(
                f"point {label} is not text, numbers, and lists of them: {dict(point)}"
            )
        for path in map(PurePosixPath, point.get("inputs", {}).values()):
            if path.is_absolute() or ".." in path.parts:
                raise CheckError(f"point {label} reads {path}, outside of results/RUN/")


def _takes(reference: str, count: int, *keywords: str) -> None:
    try:
        taken = list(inspect.signature(load(reference)).parameters)
    except (ImportError, AttributeError) as error:
        raise CheckError(f"{reference} is not there: {error}") from None
    if len(taken) != count + len(keywords) or taken[count:] != [*keywords]:
        given = " and ".join([f"{count} arguments", *keywords])
        raise CheckError(f"{reference} takes {', '.join(taken)}, and is given {given}")


CHECKS: Mapping[str, Callable[[Study], None]] = {
    "results have columns": results_have_columns,
    "functions take what jobs give": functions_fit,
    "sections show its results": sections_fit,
}
"""Checks of studies, by what is printed; `points_are_plain` needs settings too."""

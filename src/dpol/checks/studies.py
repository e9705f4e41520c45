"""Conformance checks of studies, which a run makes before it computes anything."""

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
from dpol.studies.study import Facts, Point, Study, schemas_of

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")


def results_have_columns(study: Study) -> None:
    """Check that `results.yaml` has the columns of each result table, in order."""
    if study.results != tuple(schemas_of(study)):
        raise CheckError(
            f"its results are {study.results}, but results.yaml has {tuple(schemas_of(study))};"
            " make them agree"
        )


def functions_fit(study: Study) -> None:
    """Check that its module holds it as STUDY, and that its functions take what jobs give them."""
    if load(f"{study.module}:STUDY") is not study:
        raise CheckError(f"{study.module}:STUDY is another study; its module must hold it as STUDY")
    _takes(study.run, 2)
    if study.collect:
        _takes(study.collect, 3)


def sections_fit(study: Study) -> None:
    """Check that the functions of its sections exist, and show its results."""
    for section in study.every_section():
        for figure in section.figures:
            _takes(figure.draw, 3)
            if not (figure.description.endswith(".") and figure.title[0].isupper()):
                raise CheckError(
                    f"figure {figure.name}: the description must end with a full stop, and the"
                    " title must begin with a capital letter"
                )
        for table in section.tables:
            _takes(table.build, 3)
        shown = {*section.results, *(name for each in section.figures for name in each.results)}
        if unknown := shown - {*study.results, *load_study(MAIN).results}:
            raise CheckError(
                f"section {section.name} shows {sorted(unknown)}, which are results neither of"
                f" this study nor of {MAIN}"
            )
        if not section.about.endswith("."):
            raise CheckError(f"section {section.name}: about must end with a full stop")


def points_are_plain(study: Study, settings: Any) -> None:
    """Check that points have plain settings, and labels that can name files."""
    points = study.points(settings, Facts({"A": "A", "B": "B"}, simulated=True, confidence=0.95))
    for label, point in points.items():
        if not _LABEL.fullmatch(label):
            raise CheckError(
                f"the point label {label!r} cannot name a file; use letters, digits and . _ - /"
            )
        if not isinstance(point, Point):
            raise CheckError(f"point {label} must be a dpol.studies.study.Point, not {point!r}")
        settings = dict(point.settings)
        if yaml.safe_load(yaml.safe_dump(settings)) != settings:
            raise CheckError(
                f"point {label} must hold only text, numbers, lists of them, and blocks: {settings}"
            )
        if taken := point.inputs.keys() & {*study.written, *study.results}:
            raise CheckError(
                f"point {label} names inputs like tables: {sorted(taken)}; give them other names"
            )
        for path in map(PurePosixPath, point.inputs.values()):
            if path.is_absolute() or ".." in path.parts:
                raise CheckError(
                    f"point {label} reads {path}; inputs must be paths below results/RUN/"
                )


def _takes(reference: str, count: int) -> None:
    try:
        taken = list(inspect.signature(load(reference)).parameters)
    except (ImportError, AttributeError) as error:
        raise CheckError(f"{reference} does not exist: {error}") from None
    if len(taken) != count:
        raise CheckError(f"{reference} takes {', '.join(taken)}, but is given {count} arguments")


CHECKS: Mapping[str, Callable[[Study], None]] = {
    "results have columns": results_have_columns,
    "functions take what jobs give": functions_fit,
    "sections show its results": sections_fit,
}
"""Checks of studies, by printed title. `points_are_plain` also needs settings."""

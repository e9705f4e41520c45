"""Conformance checks of studies."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any

from dpol.checks import CheckError
from dpol.core.errors import in_one_line
from dpol.studies.drawing import drawn_in
from dpol.studies.jobs import settings_from
from dpol.studies.registry import EVERY_RUN, load_study, study_in
from dpol.studies.study import Facts, Point, Study, as_plain, from_plain, schemas_in

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")


def results_have_columns(study: Study) -> None:
    """Check that `results.yaml` has the columns of each result table, in order.

    Tables that points write may come before them, named as their files.
    """
    described = tuple(name for name in schemas_in(study.package) if not name.startswith("points/"))
    if study.results != described:
        raise CheckError(
            f"its results are {study.results}, but results.yaml has {described}; make them agree"
        )


def functions_fit(study: Study) -> None:
    """Check that its files have the functions that jobs call, which take what they are given."""
    if study_in(study.package) is not study:
        raise CheckError(f"{study.module}.STUDY is another study; give its package")
    run = getattr(import_module(study.computing), "run", None)
    if run is None:
        raise CheckError(f"{study.computing} has no function run")
    _takes(run, 2)
    if collect := getattr(import_module(study.collecting), "collect", None):
        _takes(collect, 3)


def sections_show_results(study: Study) -> None:
    """Check that sections show known results."""
    known = {*study.results, *(result for it in EVERY_RUN for result in load_study(it).results)}
    for section in study.sections:
        if unknown := {*section.results} - known:
            raise CheckError(
                f"section {section.name} shows {sorted(unknown)}, which are results of"
                f" neither this study nor {' nor '.join(EVERY_RUN)}"
            )


def sections_are_drawn(study: Study) -> None:
    """Check that each figure, table and widget has its function, and each function its section."""
    named = {
        "figures": {it.name for section in study.sections for it in section.figures},
        "tables": {it.name for section in study.sections for it in section.tables},
        "widgets": {section.name for section in study.sections if section.widget},
    }
    for kind, names in named.items():
        functions: Mapping[str, Callable[..., object]] = getattr(drawn_in(study.package), kind)
        if odd := sorted(names ^ functions.keys()):
            raise CheckError(
                f"{study.showing} and DRAWN.{kind} of {study.drawing} do not both have {odd}; make"
                " them agree"
            )
        for function in functions.values():
            _takes(function, 3)


def points_are_plain(study: Study, settings: Any) -> None:
    """Check that jobs get what is planned, and that labels of points can name files.

    That is the settings of the points, and those that the figures and tables show.
    """
    points = study.points(settings, Facts({"A": "A", "B": "B"}, simulated=True, confidence=0.95))
    for label, point in points.items():
        if not _LABEL.fullmatch(label):
            raise CheckError(
                f"the point label {label!r} cannot name a file; use letters, digits and . _ - /"
            )
        if not isinstance(point, Point):
            raise CheckError(f"point {label} must be a dpol.studies.study.Point, not {point!r}")
        try:
            got: object = settings_from(study.package, point.plain)
        except ValueError as error:  # of pydantic
            got = in_one_line(error)
        if got != point.settings:
            raise CheckError(
                f"point {label} has the settings {point.settings}, but its job gets {got}; make"
                f" them a frozen dataclass, POINT in {study.computing}, of text, numbers, tuples of"
                " them, and blocks"
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
    shown = study.shown(settings)
    try:
        got = from_plain(drawn_in(study.package).settings, as_plain(shown))
    except ValueError as error:
        got = in_one_line(error)
    if got != shown:
        raise CheckError(
            f"its figures and tables show the settings {shown}, but their jobs get {got}; make what"
            f" Study.shown returns of the type DRAWN.settings of {study.drawing}, a model or a"
            " frozen dataclass of text, numbers, tuples of them, and blocks"
        )


def _takes(function: Callable[..., object], count: int) -> None:
    taken = list(inspect.signature(function).parameters)
    if len(taken) != count:
        name = f"{function.__module__}.{function.__name__}"
        raise CheckError(f"{name} takes {', '.join(taken)}, but is given {count} arguments")


CHECKS: Mapping[str, Callable[[Study], None]] = {
    "results have columns": results_have_columns,
    "functions take what jobs give": functions_fit,
    "sections show its results": sections_show_results,
    "every figure and table has its function": sections_are_drawn,
}
"""Checks of studies, by printed title. `points_are_plain` also needs settings."""

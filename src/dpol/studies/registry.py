"""All studies. To add one: its folder, and its name here.

Those of other packages are blocks of a config, by their entry point or as `package.module:STUDY`.
"""

from __future__ import annotations

from importlib import import_module

from dpol.core.plugins import load_named, registered
from dpol.studies.study import Study

_FOLDERS = (
    "games",
    "comparison",
    "batching",
    "lazy",
    "lazy.convex",
    "labels",
    "audits",
    "claims",
)
PACKAGES = {folder.rpartition(".")[2]: f"dpol.studies.{folder}" for folder in _FOLDERS}
"""Dotted names of the packages of studies, by the name of the study."""
STUDIES = tuple(PACKAGES)
"""Names of the studies, in the order of the report. The settings of the first, the main experiment,
are keys of the whole config; each other has a block of its name."""
MAIN = STUDIES[0]
"""Name of the main study, whose result tables others read and show."""


def load_study(name: str) -> Study:
    """A study by its name: the `STUDY` of its package."""
    study: Study = import_module(PACKAGES[name]).STUDY
    return study


STUDY_GROUP = "dpol.studies"
"""Entry-point group in which other packages register theirs."""


def find_study(key: str) -> Study | None:
    """The study of another package that a key of a config names; None if the key names none.

    Raises:
        ValueError: two packages bring it, it cannot be imported, or it is not a study.
    """
    theirs = registered(STUDY_GROUP)
    if key not in theirs and ":" not in key:
        return None
    study = load_named(key, theirs.get(key, key))
    if not isinstance(study, Study):
        raise ValueError(f"{key}: is not a dpol.Study, but {study!r}")
    return study


def load_studies() -> dict[str, Study]:
    """All studies by name."""
    return {name: load_study(name) for name in STUDIES}

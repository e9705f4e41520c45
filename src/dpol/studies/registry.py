"""All studies. To add one: its folder, and its name here (docs/how-to/add-study.md)."""

from __future__ import annotations

from importlib import import_module

from dpol.studies.study import Study

_FOLDERS = (
    "hospitals",
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


def load_study(name: str) -> Study:
    """A study by its name: the `STUDY` of its package."""
    study: Study = import_module(PACKAGES[name]).STUDY
    return study


def load_studies() -> dict[str, Study]:
    """All studies by name."""
    return {name: load_study(name) for name in STUDIES}

"""All studies. To add one: its folder, and its name here (docs/how-to/add-study.md)."""

from __future__ import annotations

from importlib import import_module

from dpol.studies.hospitals.sections import SECTIONS
from dpol.studies.study import Section, Study

_FOLDERS = (
    "batching",
    "lazy",
    "lazy.convex",
    "labels",
    "memory",
    "audits",
    "claims",
    "released",
)
_PACKAGES = {folder.rpartition(".")[2]: f"dpol.studies.{folder}" for folder in _FOLDERS}
STUDIES = tuple(_PACKAGES)
"""Names of the studies, in the order of the report: of their folders and blocks in a config."""


def load_study(name: str) -> Study:
    """A study by its name: the `STUDY` of its package."""
    study: Study = import_module(_PACKAGES[name]).STUDY
    return study


def load_studies() -> dict[str, Study]:
    """All studies by name."""
    return {name: load_study(name) for name in STUDIES}


def load_section(name: str) -> Section:
    """A study, or a section of the main experiment, by its name."""
    main: dict[str, Section] = {it.name: it for it in SECTIONS}
    return main.get(name) or load_study(name)

"""All studies. To add one: its folder, and its name here (docs/how-to/add-study.md)."""

from __future__ import annotations

from importlib import import_module

from dpol.studies.study import Study

STUDIES = (
    "batching",
    "lazy",
    "convex",
    "labels",
    "memory",
    "audits",
    "claims",
    "released",
)
"""Folders of the studies, in the order of the report; each has the key of its block in a config."""


def load_study(name: str) -> Study:
    """A study by its name: the `STUDY` of its package."""
    study: Study = import_module(f"dpol.studies.{name}").STUDY
    return study


def load_studies() -> dict[str, Study]:
    """All studies by name."""
    return {name: load_study(name) for name in STUDIES}

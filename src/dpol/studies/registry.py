"""All studies of dpol. To add one, add its folder, and a line here."""

from __future__ import annotations

from importlib import import_module

from dpol.studies.study import Study

PACKAGES = {
    "games": "dpol.studies.games",
    "league": "dpol.studies.league",
    "batching": "dpol.studies.paper1.batching",
    "lazy": "dpol.studies.paper2.lazy",
    "convex": "dpol.studies.paper2.convex",
    "labels": "dpol.studies.paper3",
    "audits": "dpol.studies.ledger.audits",
    "claims": "dpol.studies.ledger.claims",
}
"""Dotted package names of the studies, by study name."""
STUDIES = tuple(PACKAGES)
"""Names of the studies, in the order of the report. Settings of the first, the main experiment, are
top-level keys of the config. Each other study has a block with its name."""
EVERY_RUN = STUDIES[:2]
"""Names of the games and their standings: every run has them, and all studies may show them."""


def load_study(name: str) -> Study:
    """Load a study of dpol by name."""
    return study_in(PACKAGES[name])


def study_in(package: str) -> Study:
    """Load the study of a package, given by its dotted name."""
    study: Study = import_module(f"{package}.study").STUDY
    return study


def load_studies() -> dict[str, Study]:
    """Load all studies of dpol, by name."""
    return {name: load_study(name) for name in STUDIES}

"""The claims ledger: which function decides each statement, and all rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, cast

import pandas as pd
from pydantic import TypeAdapter

from dpol.core.logs import progress
from dpol.core.schemas import read_frame
from dpol.core.yaml_files import read_yaml
from dpol.show.papers import COUPLING, DARTBOARD, DISTRIBUTIONS, EXPERTS, LAZY
from dpol.studies.claims import (
    adabatch,
    coupling,
    dartboard,
    experts,
    gains,
    labels,
    lazy,
    lemmas,
    limit,
)
from dpol.studies.claims.core import Check, Claim, Finding, Findings, Statement, decided
from dpol.studies.claims.points import ClaimsPoint
from dpol.studies.games.summary import schema
from dpol.studies.study import Inputs

POINT = ClaimsPoint
PAPERS = {
    "experts": EXPERTS,
    "lazy": LAZY,
    "dartboard": DARTBOARD,
    "coupling": COUPLING,
    "labels": DISTRIBUTIONS,
}
"""Titles by label. Each paper is a point of the study."""
STATEMENTS = Path(__file__).with_name("statements.yaml")

_MODULES = {
    "experts": experts,
    "adabatch": adabatch,
    "gains": gains,
    "limit": limit,
    "lazy": lazy,
    "dartboard": dartboard,
    "coupling": coupling,
    "lemmas": lemmas,
    "labels": labels,
}
_OF_A_RUN = "gains."
"""Module of the checks that need the main experiment of a run."""


@cache
def statements() -> Mapping[str, Statement]:
    """Return all statements by id, in the order of the ledger.

    Raises:
        ValidationError: a key of the file is unknown, missing or wrong.
        ConfigError: the file is not YAML.
    """
    by_paper = cast(dict[str, dict[str, dict[str, Any]]], read_yaml(STATEMENTS))
    entries = {
        name: {"paper": PAPERS[paper], **fields}
        for paper, of_paper in by_paper.items()
        for name, fields in of_paper.items()
    }
    return TypeAdapter(dict[str, Statement]).validate_python(entries)


def check_of(statement: Statement) -> Check:
    """Return the function that decides a statement."""
    module, _, name = statement.found_by.partition(".")
    return cast(Check, getattr(_MODULES[module], name))


def claims(paper: str, *, seed: int) -> list[Claim]:
    """Return the claims of a paper, each at its worst setting."""
    checks = dict.fromkeys(
        check_of(statement)
        for statement in statements().values()
        if statement.paper == PAPERS[paper] and not statement.found_by.startswith(_OF_A_RUN)
    )
    found = (check(seed) for check in progress(list(checks), f"claims: {paper}"))
    return _worst_of_each(chain.from_iterable(found))


def _worst_of_each(findings: Findings) -> list[Claim]:
    """Return the worst claim of each statement, in the order of the ledger."""
    by_statement: dict[str, list[Finding]] = {}
    for finding in findings:
        by_statement.setdefault(finding.name, []).append(finding)
    return [
        decided(statement, by_statement[name])
        for name, statement in statements().items()
        if name in by_statement
    ]


def claims_of_run(summary: pd.DataFrame) -> list[Claim]:
    """Return the claims about the main experiment of a run, each at its worst cell.

    Cells that the run does not play have no row.
    """
    return _worst_of_each(gains.table_two(summary))


def run(point: ClaimsPoint, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """Return one row per statement of a paper.

    All papers take half a minute on one core.
    """
    if "summary" in inputs.files:
        rows = claims_of_run(read_frame(inputs.files["summary"], schema("summary")))
    else:
        rows = claims(point.paper, seed=inputs.seed)
    return {"claims": pd.DataFrame([claim.as_row() for claim in rows])}

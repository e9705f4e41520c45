"""The claims ledger: the statements and checks of each paper, and all rows."""

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
from dpol.show.words import DARTBOARD, DISTRIBUTIONS, EXPERTS, LAZY
from dpol.studies.games.collect import schema
from dpol.studies.ledger.claims import (
    adabatch,
    dartboard,
    experts,
    gains,
    labels,
    lazy,
    lemmas,
    limit,
    lower_bound,
)
from dpol.studies.ledger.claims.core import Claim, ClaimCheck, Finding, Findings, Statement, decided
from dpol.studies.ledger.claims.settings import Paper
from dpol.studies.study import Inputs

POINT = Paper
PAPERS = {
    "experts": EXPERTS,
    "lazy": LAZY,
    "dartboard": DARTBOARD,
    "labels": DISTRIBUTIONS,
}
"""Titles by label. Each paper is a point of the study."""
STATEMENTS = Path(__file__).with_name("statements.yaml")

CHECKS: Mapping[str, tuple[ClaimCheck, ...]] = {
    "experts": (*experts.CHECKS, *adabatch.CHECKS, *limit.CHECKS),
    "lazy": (*lazy.CHECKS, *lemmas.CHECKS, *lower_bound.CHECKS),
    "dartboard": dartboard.CHECKS,
    "labels": labels.CHECKS,
}
"""Checks of each paper, by label. Those of `gains` are apart: they need a run."""


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


def claims(paper: str, *, seed: int) -> list[Claim]:
    """Return the claims of a paper, each at its worst setting, in the order of the ledger.

    Raises:
        KeyError: a check decides what is no statement of the paper.
    """
    theirs = {
        name: statement
        for name, statement in statements().items()
        if statement.paper == PAPERS[paper] and not statement.on_data
    }
    checks = progress(CHECKS[paper], f"claims: {paper}")
    return _decided(theirs, chain.from_iterable(check(seed) for check in checks))


def claims_of_run(summary: pd.DataFrame, totals: pd.DataFrame) -> list[Claim]:
    """Return the claims about the main experiment of a run, each at its worst cell.

    Cells that the run does not play have no row.

    Raises:
        KeyError: a finding is on none of the statements on data.
    """
    on_data = {name: statement for name, statement in statements().items() if statement.on_data}
    return _decided(on_data, gains.table_two(summary, totals))


def _decided(asked: Mapping[str, Statement], findings: Findings) -> list[Claim]:
    """Return the claim of each statement with findings, in the order of the statements."""
    found = {name: list[Finding]() for name in asked}
    for finding in findings:
        found[finding.name].append(finding)
    return [decided(asked[name], its) for name, its in found.items() if its]


def run(point: Paper, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """Return one row per statement of a paper.

    All papers take half a minute on one core.
    """
    if "summary" in inputs.files:
        summary, totals = (
            read_frame(inputs.files[name], schema(name)) for name in ("summary", "totals")
        )
        rows = claims_of_run(summary, totals)
    else:
        rows = claims(point, seed=inputs.seed)
    return {"claims": pd.DataFrame([claim.as_row() for claim in rows])}

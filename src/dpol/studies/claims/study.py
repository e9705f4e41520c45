"""The claims ledger: what decides each statement, and all of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import cast

import pandas as pd
from pydantic import TypeAdapter

from dpol.core.logs import progress
from dpol.core.schemas import read_frame
from dpol.core.yaml_files import read_yaml
from dpol.show.papers import DISTRIBUTIONS, EXPERTS, LAZY
from dpol.studies.claims import adabatch, experts, gains, labels, lazy, lemmas, limit
from dpol.studies.claims.core import Check, Claim, Finding, Findings, Statement, decided
from dpol.studies.claims.settings import Claims
from dpol.studies.games import schema
from dpol.studies.study import Inputs, Point

PAPERS = {"experts": EXPERTS, "lazy": LAZY, "labels": DISTRIBUTIONS}
"""Titles, by label; each paper is a point of the study."""
STATEMENTS = Path(__file__).with_name("statements.yaml")

_MODULES = {
    "experts": experts,
    "adabatch": adabatch,
    "gains": gains,
    "limit": limit,
    "lazy": lazy,
    "lemmas": lemmas,
    "labels": labels,
}
_OF_A_RUN = "gains."
"""Module of the checks that decide statements by the main experiment of a run."""


@cache
def statements() -> Mapping[str, Statement]:
    """All statements by id, in the order of the ledger.

    Raises:
        ValidationError: a key of the file is unknown, missing or wrong.
        ConfigError: the file is not YAML.
    """
    return TypeAdapter(dict[str, Statement]).validate_python(read_yaml(STATEMENTS))


def check_of(statement: Statement) -> Check:
    """The function that decides a statement."""
    module, _, name = statement.found_by.partition(".")
    return cast(Check, getattr(_MODULES[module], name))


def findings(check: Check, seed: int) -> dict[str, list[Finding]]:
    """Findings of a function in all of its settings, by id of the statement."""
    return _by_statement(check(seed))


def _by_statement(findings: Findings) -> dict[str, list[Finding]]:
    by_statement: dict[str, list[Finding]] = {}
    for finding in findings:
        by_statement.setdefault(finding.name, []).append(finding)
    return by_statement


def claims(paper: str, *, seed: int) -> list[Claim]:
    """The claims of a paper, each at the setting in which it comes off worst.

    Raises:
        ValueError: a function finds something about another statement than those that name it.
    """
    about = {
        name: it
        for name, it in statements().items()
        if it.paper == PAPERS[paper] and not it.found_by.startswith(_OF_A_RUN)
    }
    by_statement: dict[str, list[Finding]] = {}
    for check in progress(list(dict.fromkeys(map(check_of, about.values()))), f"claims: {paper}"):
        by_statement |= findings(check, seed)
    if odd := by_statement.keys() ^ about.keys():
        raise ValueError(f"found_by says something else of {', '.join(sorted(odd))}")
    return _worst_of_each(by_statement)


def _worst_of_each(found: Mapping[str, list[Finding]]) -> list[Claim]:
    """The worst claim of each statement, in the order of the ledger."""
    return [decided(it, found[name]) for name, it in statements().items() if name in found]


def claims_of_run(ranking: pd.DataFrame, summary: pd.DataFrame) -> list[Claim]:
    """The claims about the main experiment of a run, each at the cell where it comes off worst.

    What the run does not play has no row.
    """
    return _worst_of_each(_by_statement(chain(gains.headline(ranking), gains.table_two(summary))))


def run(settings: Claims, point: Point, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """One row per statement of a paper, a key of `PAPERS`; half a minute on one core for all."""
    if "ranking" in inputs.files:
        ranking, summary = (
            read_frame(inputs.files[name], schema(name)) for name in ("ranking", "summary")
        )
        found = claims_of_run(ranking, summary)
    else:
        found = claims(point["paper"], seed=inputs.seed)
    return {"claims": pd.DataFrame([it.as_row() for it in found])}

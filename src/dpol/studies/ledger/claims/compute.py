"""The claims ledger: the statements of each paper, the driver of their checks, and all rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter

from dpol.core.logs import progress
from dpol.core.schemas import read_frame
from dpol.core.yaml_files import read_yaml
from dpol.show.words import DARTBOARD, DISTRIBUTIONS, EXPERTS, LAZY
from dpol.studies.games.collect import schema
from dpol.studies.ledger.claims import dartboard, experts, gains, labels, lazy
from dpol.studies.ledger.claims.core import Claim, ClaimCheck, Finding, Statement, decided
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
MODULES = {it.__name__.rpartition(".")[2]: it for it in (dartboard, experts, gains, labels, lazy)}
"""Modules of checks."""
STATEMENTS = Path(__file__).with_name("statements.yaml")


@cache
def statements() -> Mapping[str, Statement]:
    """Return all statements by id, in the order of the ledger.

    Raises:
        ValidationError: a key of the file is unknown, missing or wrong.
        ConfigError: the file is not YAML.
    """
    by_paper = cast(dict[str, dict[str, dict[str, Any]]], read_yaml(STATEMENTS))
    entries = {
        name: {"paper": PAPERS[paper], **fields, "check": _loaded(fields["check"])}
        for paper, of_paper in by_paper.items()
        for name, fields in of_paper.items()
    }
    return TypeAdapter(dict[str, Statement]).validate_python(entries)


def _loaded(check: str) -> ClaimCheck:
    module, _, name = check.partition(":")
    return cast(ClaimCheck, getattr(MODULES[module], name))


def decide(asked: Mapping[str, Statement], by: Any) -> list[Claim]:
    """Return the claim of each statement with findings, in the order of the statements.

    Args:
        asked: statements by id; all of each check.
        by: what the checks read: the root seed, or the summary of a run's main experiment. Cells
            that the run does not play have no row.

    Raises:
        KeyError: a check decides what is not asked.
    """
    found: dict[str, list[Finding]] = {name: [] for name in asked}
    for check in progress(dict.fromkeys(it.check for it in asked.values()), "claims"):
        for finding in check(by):
            found[finding.name].append(finding)
    return [decided(asked[name], its) for name, its in found.items() if its]


def run(point: Paper, inputs: Inputs) -> dict[str, list[dict[str, Any]]]:
    """Return one row per statement of a paper, or per statement on the data of a run.

    All papers take a quarter of a minute on one core.
    """
    on_data = "summary" in inputs.files
    asked = {
        name: it
        for name, it in statements().items()
        if it.paper == PAPERS[point] and it.on_data == on_data
    }
    by = read_frame(inputs.files["summary"], schema("summary")) if on_data else inputs.seed
    return {"claims": [claim.as_row() for claim in decide(asked, by)]}

"""The record of a release and its statement in words; see `dpol_weekly.released.format`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpol.core.rounding import rounded_up
from dpol.core.words import counted
from dpol.privacy.account import best_guess
from dpol.privacy.guarantee import ONE_PERSON, UNIT
from dpol.show.pages import load_template
from dpol_weekly.budget import mu_of_such_stay
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.ceiling import spent
from dpol_weekly.holder.entries import Output, runs_of
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.noise import decimal_text
from dpol_weekly.released.row import Released

_NOT_PROTECTED = "the entities, the periods, the capacities, and which rows were reported"


def facts_of(
    ledger: Ledger, output: Output, deployment: Deployment, rows: Sequence[Released]
) -> dict[str, Any]:
    """Return the contents of a record without key, checksum and signature.

    Args:
        ledger: the ledger.
        output: an output with rows.
        deployment: agreement of its last run.
        rows: rows of its table.
    """
    runs = runs_of(ledger, output)
    most = max(spent(ledger, deployment, output).values())
    secure = all(run["sampler"] == "secure" for run in runs)
    return {
        "deployment": {"name": deployment.name, "sha256": deployment.sha256()},
        "ledger": {"id": ledger.id, "output": output.id},
        "runs": [{key: run[key] for key in ("number", "date", "rows", "head")} for run in runs],
        "rows": len(rows),
        "guarantee": {"sampler": "secure" if secure else "seeded", **_guarantee(deployment, most)},
    }


def _guarantee(deployment: Deployment, most: Fraction) -> dict[str, Any]:
    """Return the guarantee of an output if no entity spent more than `most` in a period."""
    noise = deployment.count_noise()
    return {
        "mechanism": "discrete Gaussian noise on every count, drawn once for each release",
        "adjacency": ONE_PERSON.replace("round", "period"),
        "unit": UNIT.replace("round", "period"),
        "not_protected": _NOT_PROTECTED,
        "noise": {
            "mu": decimal_text(noise.mu),
            "count_sensitivity": decimal_text(noise.count_sensitivity),
            "scale": noise.scale,
            "decimals": noise.decimals,
        },
        "mu": math.sqrt(most),
        "longest_stay": deployment.longest_stay,
        "mu_of_stay": mu_of_such_stay(most, deployment.longest_stay),
        "budget_mu": deployment.budget_mu,
    }


def statement_of(
    facts: Mapping[str, Any], rows: Sequence[Released], deployment: Deployment, marked: int
) -> str:
    """Return the release in plain words; guarantees are rounded to the safe side.

    Args:
        facts: contents of its record.
        rows: rows of its table.
        deployment: agreement of its last run.
        marked: number of periods that a lost ledger released.
    """
    return load_template("statement.txt.j2", "dpol_weekly.holder").render(
        facts=facts,
        deployment=deployment,
        entities=sorted({row.entity for row in rows}),
        first=min(row.period for row in rows),
        last=max(row.period for row in rows),
        marked=marked,
        counted=counted,
        up=lambda mu: rounded_up(mu, 4),
        guess=lambda mu: rounded_up(100 * best_guess(mu), 3),
    )

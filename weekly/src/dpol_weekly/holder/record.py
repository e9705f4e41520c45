"""What a release states, in numbers and in words; see `dpol_weekly.records`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpol.core.rounding import rounded_up
from dpol.core.words import counted
from dpol.privacy.account import best_guess
from dpol.privacy.guarantee import ONE_PERSON, UNIT
from dpol.show.pages import load_template
from dpol_weekly.budget import mu_of_such_stay
from dpol_weekly.holder.ceiling import spent
from dpol_weekly.holder.entries import Output, agreed, runs_of
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.noise import decimal_text
from dpol_weekly.released.row import Released

_NOT_PROTECTED = "the entities, the periods, the capacities, and which rows were reported"


def facts_of(ledger: Ledger, output: Output, rows: Sequence[Released]) -> dict[str, Any]:
    """Return what a release holds, without key and signature.

    Args:
        ledger: the ledger.
        output: an output with rows.
        rows: its rows.
    """
    runs = runs_of(ledger, output)
    deployment = agreed(runs[-1]["agreement"])
    most = max(spent(ledger, deployment, output).values())
    noise = deployment.count_noise()
    guarantee = {
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
    words = load_template("statement.txt.j2", "dpol_weekly.holder").render(
        guarantee=guarantee,
        deployment=deployment,
        entities=sorted({row.entity for row in rows}),
        rows=len(rows),
        first=min(row.period for row in rows),
        last=max(row.period for row in rows),
        begin_after=ledger.begin_after,
        counted=counted,
        up=lambda mu: rounded_up(mu, 4),
        guess=lambda mu: rounded_up(100 * best_guess(mu), 3),
    )
    return {
        "dpol_release": 1,
        "words": words.splitlines(),
        "deployment": {"name": deployment.name, "sha256": deployment.sha256()},
        "ledger": {"id": ledger.id, "output": output.id, "begin_after": ledger.begin_after},
        "runs": [{key: run[key] for key in ("number", "date", "rows", "head")} for run in runs],
        "guarantee": guarantee,
        "rows": [list(row) for row in rows],
    }

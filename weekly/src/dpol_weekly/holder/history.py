"""The history of a ledger: its releases with dates and privacy cost, without counts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.ceiling import mu_of_stay, mu_of_year, spent
from dpol_weekly.holder.entries import Output, agreements, outputs, runs_of
from dpol_weekly.holder.ledger import Ledger, is_new, open_ledger, transaction


def history(path: Path) -> dict[str, Any]:
    """Return the releases of a ledger and their privacy cost as plain values.

    Raises:
        DataError: there is no ledger, the file is not one, or something else changed it.
        OutputError: the ledger cannot be read.
    """
    if is_new(path):
        raise DataError(f"{path}: there is no ledger; name it with --ledger")
    with open_ledger(path) as ledger, transaction(ledger):
        released = {it.name: it for it in agreements(ledger, released=True)}
        return {
            "ledger": str(path),
            "begin_after": ledger.begin_after,
            "outputs": [_of_output(ledger, output) for output in outputs(ledger)],
            "stays": [_of_stays(ledger, deployment) for deployment in released.values()],
        }


def _of_stays(ledger: Ledger, deployment: Deployment) -> dict[str, Any]:
    """Return the largest loss of a person over all outputs: in a period, a stay and a year."""
    mu, kept = mu_of_stay(ledger, deployment)
    year = mu_of_year(ledger, deployment)
    return {
        "deployment": deployment.name,
        "count_sensitivity": deployment.count_sensitivity,
        "longest_stay": deployment.longest_stay,
        "mu_in_a_period": math.sqrt(max(spent(ledger, deployment).values())),
        "mu": mu,
        "budget_mu": deployment.budget_mu,
        "kept": kept,
        "scheduled": deployment.scheduled,
        "periods_in_a_year": deployment.periods_in_a_year,
        "mu_of_year": year,
        "guess_of_year": deployment.guess(year),
    }


def _of_output(ledger: Ledger, output: Output) -> dict[str, Any]:
    """Return the runs of an output."""
    keys = "number", "date", "rows", "first", "last", "again"
    runs = [{key: run[key] for key in keys} for run in runs_of(ledger, output)]
    return {"output": output.label, "deployment": output.name, "runs": runs}

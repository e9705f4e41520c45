"""History of a ledger: its releases, their times and cost. No count is in it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError
from dpol.core.rounding import rounded_up
from dpol.core.words import counted, printable
from dpol.privacy.account import best_guess
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.ceiling import Worst, spent, worst_stay
from dpol_weekly.holder.entries import (
    Output,
    deployment_of,
    deployments,
    outputs,
    path_of,
    runs_of,
    table_rows,
)
from dpol_weekly.holder.ledger import Ledger, open_ledger, transaction
from dpol_weekly.holder.nearby import is_of
from dpol_weekly.holder.restored import marked_for
from dpol_weekly.released.read import read_release


def history(path: Path) -> dict[str, Any]:
    """The releases of a ledger as plain values, and what they cost.

    Raises:
        DataError: there is no ledger, or the file is not one.
        OutputError: it cannot be read.
    """
    with _opened(path) as ledger:
        stays = []
        for deployment in deployments(ledger):
            worst = worst_stay(ledger, deployment)
            stays.append(
                {
                    "deployment": deployment.name,
                    "longest_stay": deployment.longest_stay,
                    "start": worst.start.isoformat(),
                    "mu_in_a_period": math.sqrt(max(spent(ledger, deployment).values())),
                    "mu": worst.mu,
                    "budget_mu": deployment.budget_mu,
                    "budget": budget_in_words(deployment, worst),
                    "marked": len(marked_for(ledger, deployment.name)),
                }
            )
        found = [_of_output(ledger, output) for output in outputs(ledger)]
        return {"ledger": str(path), "outputs": found, "stays": stays}


def _of_output(ledger: Ledger, output: Output) -> dict[str, Any]:
    """The runs of an output, and the mu of a person in one of its periods."""
    deployment = deployment_of(ledger, output)
    keys = "number", "date", "rows", "first", "last", "again"
    runs = [{key: run[key] for key in keys} for run in runs_of(ledger, output)]
    mu = math.sqrt(max(spent(ledger, deployment, output).values()))
    return {"output": output.path, "deployment": deployment.name, "runs": runs, "mu": mu}


def describe(found: dict[str, Any]) -> list[str]:
    """The history line by line, in plain words; guarantees rounded to the safe side."""
    if not found["stays"]:
        return [f"{found['ledger']}: nothing was released yet."]
    lines = []
    for output in found["outputs"]:
        lines.append(f"{printable(output['output'])} (deployment {output['deployment']})")
        for run in output["runs"]:
            again = f", {counted(run['again'], 'row')} for a period released before"
            lines.append(
                f"  {run['date']}: {counted(run['rows'], 'row')} for"
                f" {' to '.join(sorted({run['first'], run['last']}))}{again * bool(run['again'])}"
            )
        lines.append(
            f"  One person in one period: mu = {rounded_up(output['mu'], 4)} in this output. A"
            " guess between two equally likely possibilities is right at most"
            f" {rounded_up(100 * best_guess(output['mu']), 3)}% of the time."
        )
    for stay in found["stays"]:
        lost = f"{counted(stay['marked'], 'period')} marked as released by a lost ledger. "
        lines.append(
            f"Deployment {stay['deployment']}: {lost * bool(stay['marked'])}over all outputs, a"
            f" person has at most mu = {rounded_up(stay['mu_in_a_period'], 4)} in one period, and"
            f" mu = {rounded_up(stay['mu'], 4)} in a stay of"
            f" {counted(stay['longest_stay'], 'period')} (from {stay['start']} on)."
            f" {stay['budget']}"
        )
    return lines


def budget_in_words(deployment: Deployment, worst: Worst) -> str:
    """The budget of a deployment, and whether a ledger keeps its part of it."""
    if worst.kept:
        return (
            f"The budget of {deployment.budget_mu:g} also holds for people who move between the"
            " holders that take part, if each ledger keeps to its share of it, as this one does."
        )
    return (
        f"The budget of {deployment.budget_mu:g} does not hold: some period of an entity takes more"
        " than its share, from releases made before the deployment or under an earlier agreement."
    )


def verify(path: Path) -> str:
    """Make sure that a ledger is as its runs left it, and that the release files nearby are of it.

    Returns:
        What was compared, in words.

    Raises:
        DataError: as `history`; a row was changed, removed or reordered; a file was changed or
            forged; or a file knows a run that the ledger does not, which was put back.
    """
    files = runs = 0
    with _opened(path) as ledger:
        for output in outputs(ledger):
            known, rows = runs_of(ledger, output), table_rows(ledger, output)
            heads, runs = {run["number"]: run["head"] for run in known}, runs + len(known)
            place = path_of(ledger, output)
            for file in sorted(it for it in place.parent.glob("*.zip") if is_of(it, place)):
                report, files = read_release(file), files + 1
                if report.ledger != ledger.id and marked_for(ledger, report.deployment):
                    continue  # of the ledger that was lost
                if report.ledger != ledger.id:
                    raise DataError(f"{file}: is of another ledger than {path}; move it away")
                if other := [it for it, head in report.heads.items() if heads.get(it) != head]:
                    raise DataError(
                        f"{file}: knows another run {other[0]} than {path}: the ledger was put back"
                        " from an older copy, or was written again; put its newest copy back"
                    )
                if [row.cells for row in report.rows] != rows[: len(report.rows)]:
                    raise DataError(
                        f"{file}: does not hold the rows of {path}: it is forged; move it away, and"
                        " run dpol privatize with --write-again"
                    )
    return (
        f"{path}: {counted(runs, 'run')} and {counted(files, 'release file')} are as they were"
        " written"
    )


@contextmanager
def _opened(path: Path) -> Iterator[Ledger]:
    """A ledger that exists, in a transaction."""
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        raise DataError(f"{path}: there is no ledger; name it with --ledger")
    with open_ledger(path) as ledger, transaction(ledger):
        yield ledger

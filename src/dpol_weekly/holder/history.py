"""History of a ledger: its releases, their times and cost, in plain words. No count is in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.rounding import rounded_up
from dpol.core.words import counted, printable
from dpol.privacy.account import best_guess
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.ceiling import Worst, most_in_a_period, worst_stay
from dpol_weekly.holder.entries import (
    Output,
    Weighed,
    deployment_of,
    deployments,
    outputs,
    runs_of,
    weighed_rows,
)
from dpol_weekly.holder.ledger import Ledger, open_ledger, transaction
from dpol_weekly.holder.views import guarantee_of


def history(path: Path) -> list[str]:
    """The history of a ledger, line by line; guarantees rounded to the safe side.

    Raises:
        DataError: there is no ledger, or the file is not one.
        OutputError: it cannot be read.
    """
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        raise DataError(f"{path}: there is no ledger; name it with --ledger")
    with open_ledger(path) as ledger, transaction(ledger):
        rows = weighed_rows(ledger)
        lines = [line for output in outputs(ledger) for line in _of_output(ledger, output, rows)]
        return (
            [*lines, *_over_all(ledger, rows)] if lines else [f"{path}: nothing was released yet."]
        )


def _of_output(ledger: Ledger, output: Output, released: Sequence[Weighed]) -> Iterator[str]:
    deployment = deployment_of(ledger, output)
    if deployment is None:
        return
    yield f"{printable(output.path)} (deployment {deployment.name})"
    for run in runs_of(ledger, output):
        rows = [row for row in released if row.run == run.number]
        periods, mus = {row.period for row in rows}, sorted({row.mu for row in rows}, key=float)
        again = sum(row.version > 1 for row in rows)
        yield (
            f"  {run.date}: {counted(len(rows), 'row')} for"
            f" {' to '.join(sorted({min(periods), max(periods)}))}, mu = {' or '.join(mus)} each"
            + (f", {counted(again, 'row')} for a period released before" if again else "")
            + (", taken in after their ledger was lost" if run.imported else "")
            + (f"; {run.withdrawn} left the output, drawn from an older copy" * bool(run.withdrawn))
        )
    given = guarantee_of(ledger, output, deployment.count_sensitivity)
    unit = given.unit.replace("round", "period").capitalize()
    yield (
        f"  {unit}: mu = {rounded_up(given.mu, 4)} in this output. A guess between two equally"
        f" likely possibilities is right at most {rounded_up(100 * best_guess(given.mu), 3)}% of"
        " the time."
    )


def _over_all(ledger: Ledger, rows: Sequence[Weighed]) -> Iterator[str]:
    yield (
        f"One entity has at most mu = {rounded_up(most_in_a_period(rows), 4)} in one period: over"
        " all outputs, and all their periods that overlap it."
    )
    for deployment in deployments(ledger):
        worst = worst_stay(ledger, deployment)
        if worst:
            yield (
                f"Deployment {deployment.name}: a person who stays"
                f" {counted(deployment.longest_stay, 'period')} has at most mu ="
                f" {rounded_up(worst.mu, 4)} in this ledger (the stay from {worst.start} on)."
                f" {budget_in_words(deployment, worst)}"
            )


def budget_in_words(deployment: Deployment, worst: Worst) -> str:
    """The budget of a deployment, and whether a ledger keeps its part of it."""
    if worst.kept:
        return (
            f"The budget of {deployment.budget_mu:g} also holds for people who move between the"
            " holders that take part, if each ledger keeps to its half of it, as this one does."
        )
    return (
        f"The budget of {deployment.budget_mu:g} does not hold: some period of an entity takes more"
        " than its share, from releases made before the deployment or under an earlier agreement."
    )

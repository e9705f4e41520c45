"""History of a ledger: its releases, their times and cost. No count is in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
    heads_of,
    outputs,
    runs_of,
    table_rows,
    weighed_rows,
)
from dpol_weekly.holder.ledger import Ledger, open_ledger, transaction
from dpol_weekly.holder.views import guarantee_of, releases_of
from dpol_weekly.released import read_release


@dataclass(frozen=True, kw_only=True)
class RunHistory:
    """A run that released rows of an output.

    Args:
        date: YYYY-MM-DD, universal time.
        rows: how many it released.
        first: the earliest of their periods, YYYY-MM-DD.
        last: the latest.
        mus: of a row, each value once; decimal text.
        again: how many of the rows are of a period released before.
        imported: whether they were taken in after their ledger was lost.
        withdrawn: how many left the output, drawn from an older copy.
    """

    date: str
    rows: int
    first: str
    last: str
    mus: tuple[str, ...]
    again: int
    imported: bool
    withdrawn: int


@dataclass(frozen=True, kw_only=True)
class OutputHistory:
    """The runs that released rows of an output, and what they guarantee together.

    Args:
        output: its path.
        deployment: its name.
        runs: in their order.
        unit: who is protected, in words.
        mu: of the unit.
        best_guess: see `dpol.privacy.account.best_guess`.
    """

    output: str
    deployment: str
    runs: tuple[RunHistory, ...]
    unit: str
    mu: float
    best_guess: float


@dataclass(frozen=True, kw_only=True)
class StayHistory:
    """The most that a person of the longest stay of a deployment has lost in a ledger.

    Args:
        deployment: its name.
        longest_stay: in periods.
        start: of the first period of the worst stay, YYYY-MM-DD.
        mu: of that stay.
        budget_mu: the most that this should be.
        budget: whether the budget holds, in words.
    """

    deployment: str
    longest_stay: int
    start: str
    mu: float
    budget_mu: float
    budget: str


@dataclass(frozen=True, kw_only=True)
class History:
    """The releases of a ledger. No count is in it.

    Args:
        ledger: its path.
        outputs: in their order.
        most_in_a_period: mu of one entity in one period, over all outputs, at most.
        stays: of each deployment.
    """

    ledger: str
    outputs: tuple[OutputHistory, ...]
    most_in_a_period: float
    stays: tuple[StayHistory, ...]


def history(path: Path) -> History:
    """The history of a ledger.

    Raises:
        DataError: there is no ledger, or the file is not one.
        OutputError: it cannot be read.
    """
    with _opened(path) as ledger:
        rows = weighed_rows(ledger)
        return History(
            ledger=str(path),
            outputs=tuple(
                _of_output(ledger, output, deployment_of(ledger, output), rows)
                for output in outputs(ledger)
            ),
            most_in_a_period=most_in_a_period(rows),
            stays=tuple(
                StayHistory(
                    deployment=deployment.name,
                    longest_stay=deployment.longest_stay,
                    start=worst.start.isoformat(),
                    mu=worst.mu,
                    budget_mu=deployment.budget_mu,
                    budget=budget_in_words(deployment, worst),
                )
                for deployment in deployments(ledger)
                for worst in [worst_stay(ledger, deployment)]
            ),
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
        heads = heads_of(ledger)
        ended = {token for (token,) in ledger.execute("SELECT token FROM ended")}
        for output in outputs(ledger):
            ever = table_rows(ledger, output, withdrawn=True)
            runs += len(runs_of(ledger, output))
            for file in releases_of(ledger.path.parent / output.path):
                report, files = read_release(file), files + 1
                # The ledger may know what a lost copy released, from the coordinator.
                lost = report.facts["ledger"].get("token") in ended
                other = [it for it in report.runs if heads.get(it.number) != it.head]
                if other and not lost:
                    if report.ledger != ledger.id:  # which --continue-from may have changed
                        raise DataError(f"{file}: is of another ledger than {path}; move it away")
                    raise DataError(
                        f"{file}: knows another run {other[0].number} than {path}: the ledger was"
                        " put back from an older copy, or was written again; put its newest copy"
                        " back"
                    )
                cells, rest = [row.cells for row in report.rows], iter(ever)
                if not ({*cells} <= {*ever} if lost else all(row in rest for row in cells)):
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


def describe(found: History) -> list[str]:
    """The history line by line, in plain words; guarantees rounded to the safe side."""
    if not found.outputs:
        return [f"{found.ledger}: nothing was released yet."]
    lines = [line for output in found.outputs for line in _describe_output(output)]
    lines.append(
        f"One entity has at most mu = {rounded_up(found.most_in_a_period, 4)} in one period: over"
        " all outputs, and all their periods that overlap it."
    )
    lines += [
        f"Deployment {stay.deployment}: a person who stays {counted(stay.longest_stay, 'period')}"
        f" has at most mu = {rounded_up(stay.mu, 4)} in this ledger (the stay from {stay.start}"
        f" on). {stay.budget}"
        for stay in found.stays
    ]
    return lines


def _of_output(
    ledger: Ledger, output: Output, deployment: Deployment, released: Sequence[Weighed]
) -> OutputHistory:
    runs = []
    for run in runs_of(ledger, output):
        rows = [row for row in released if row.run == run.number]
        runs.append(
            RunHistory(
                date=run.date,
                rows=len(rows),
                first=min(row.period for row in rows),
                last=max(row.period for row in rows),
                mus=tuple(sorted({row.mu for row in rows}, key=float)),
                again=sum(row.version > 1 for row in rows),
                imported=bool(run.imported),
                withdrawn=run.withdrawn,
            )
        )
    given = guarantee_of(ledger, output, deployment.count_sensitivity)
    return OutputHistory(
        output=output.path,
        deployment=deployment.name,
        runs=tuple(runs),
        unit=given.unit.replace("round", "period"),
        mu=given.mu,
        best_guess=best_guess(given.mu),
    )


def _describe_output(output: OutputHistory) -> Iterator[str]:
    yield f"{printable(output.output)} (deployment {output.deployment})"
    for run in output.runs:
        yield (
            f"  {run.date}: {counted(run.rows, 'row')} for"
            f" {' to '.join(sorted({run.first, run.last}))}, mu = {' or '.join(run.mus)} each"
            + (f", {counted(run.again, 'row')} for a period released before" if run.again else "")
            + (", taken in after their ledger was lost" if run.imported else "")
            + (f"; {run.withdrawn} left the output, drawn from an older copy" * bool(run.withdrawn))
        )
    yield (
        f"  {output.unit.capitalize()}: mu = {rounded_up(output.mu, 4)} in this output. A guess"
        " between two equally likely possibilities is right at most"
        f" {rounded_up(100 * output.best_guess, 3)}% of the time."
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

"""Check that a report is what `dpol privatize` writes, and what was agreed."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from dpol.core.errors import DataError
from dpol.core.words import printable, shortened
from dpol_weekly.deployment import Deployment
from dpol_weekly.released.read import Report
from dpol_weekly.released.row import Released, check_cells

MOST_DEVIATIONS = 40
"""A noisy count exceeds its capacity by at most this many standard deviations of its noise.

Noise exceeds them with a probability below 1e-340.
"""

_CLOSE = 1e-9


def check_guarantee(report: Report, agreed: Deployment) -> None:
    """Refuse a report whose record states another guarantee than its agreement and table give.

    Raises:
        DataError: the record states another guarantee.
    """
    releases = Counter((row.cells.entity, row.cells.period) for row in report.rows)
    noise, mu = agreed.count_noise(), agreed.mu * math.sqrt(max(releases.values(), default=1))
    stated = {key: it for key, it in report.guarantee.items() if key != "noise"}
    if isinstance(of_noise := report.guarantee.get("noise"), dict):
        stated |= {f"noise.{key}": it for key, it in of_noise.items()}
    due = {
        "longest_stay": agreed.longest_stay,
        "budget_mu": agreed.budget_mu,
        "noise.mu": float(noise.mu),
        "noise.count_sensitivity": float(noise.count_sensitivity),
        "noise.decimals": noise.decimals,
        "noise.scale": noise.scale,
        "mu": mu,
        "mu_of_stay": mu * math.sqrt(agreed.longest_stay),
    }
    for name, number in due.items():
        if not _is(stated.get(name), number):
            raise DataError(
                f"{report.file}: its record states another {name} than its agreement and its table"
                f" give ({number:.10g}); ask for the release that dpol privatize wrote"
            )


def _is(stated: object, due: float) -> bool:
    """Return True if a record states this number, up to rounding."""
    with suppress(TypeError, ValueError, OverflowError):
        return abs(float(stated) - due) <= _CLOSE * due  # type: ignore[arg-type]
    return False


def check_row(row: Released, agreements: Sequence[Deployment], today: datetime.date) -> None:
    """Refuse a row that `dpol privatize` would not write under the agreement.

    Args:
        row: as it was reported.
        agreements: the known agreements; each amends the one before.
        today: today's date.

    Raises:
        DataError: the row breaks a rule; the text says which, without its count.
    """
    deployment = agreements[-1]
    entity, period = deployment.entities.get(row.entity), _period(row.period)
    if entity is None:
        shown = printable(shortened(row.entity))
        raise DataError(f"{shown} is not an entity of the deployment; ask who it is")
    if period is None or deployment.number_of(period) is None:
        grid = deployment.periods
        raise DataError(
            f"no period of the deployment starts at {printable(shortened(row.period))!r}; they"
            f" start every {grid.days} days from {grid.first} on; ask for the right table"
        )
    if not entity.takes_part(period):
        raise DataError(
            f"{row.entity} does not take part in {period}, says the deployment; amend that, or ask"
            " why it reports"
        )
    if (today - period).days < deployment.periods.days:
        raise DataError(
            f"the period from {period} has not ended on {today}, the date of this computer;"
            " collect again when it has, or set the right date"
        )
    noise = deployment.count_noise()
    count, capacity = check_cells(row, noise)
    # A holder that has not taken an amendment yet releases by the agreement before it.
    held = [
        agreement.entities[row.entity].capacity
        for agreement in agreements
        if row.entity in agreement.entities
        and not (agreement.amends and period < agreement.amends.since)
    ]
    if held and not {"reported", capacity} & {*held}:
        raise DataError(
            f"its capacity is {row.capacity}, and the deployment says {held[-1]:g}; ask for it"
            " again, or amend the deployment"
        )
    if abs(count) > capacity + MOST_DEVIATIONS * noise.standard_deviation:
        raise DataError(
            f"its noisy count is out of range: more than {MOST_DEVIATIONS} standard deviations of"
            " its noise above the capacity; ask for it again"
        )


def _period(text: str) -> datetime.date | None:
    """Return the date in a cell if it is written as YYYY-MM-DD."""
    with suppress(ValueError):
        if (day := datetime.date.fromisoformat(text)).isoformat() == text:
            return day
    return None

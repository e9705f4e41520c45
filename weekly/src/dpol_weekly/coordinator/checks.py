"""Check that a row of a report is what `dpol privatize` writes, and what was agreed."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from dpol.core.errors import DataError
from dpol_weekly.deployment import Deployment, iso_date
from dpol_weekly.released.row import Released, noisy_count

MOST_DEVIATIONS = 40
"""A noisy count exceeds its capacity by at most this many standard deviations of its noise.

Noise exceeds them with a probability below 1e-340.
"""


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
    entity, period = deployment.entities.get(row.entity), iso_date(row.period)
    if period is None or deployment.number_of(period) is None:
        grid = deployment.periods
        raise DataError(
            f"no period of the deployment starts at {row.period!r}; they"
            f" start every {grid.days} days from {grid.first} on; ask for the right table"
        )
    if entity is None or not entity.takes_part(period):
        raise DataError(
            f"{row.entity} does not take part in {period}, says the deployment; amend that, or ask"
            " who it is and why it reports"
        )
    if (today - period).days < deployment.periods.days:
        raise DataError(
            f"the period from {period} has not ended on {today}, the date of this computer;"
            " collect again when it has, or set the right date"
        )
    noise = deployment.count_noise()
    if noisy_count(row.noisy_count, noise, 0) != row.noisy_count:  # its only text on this grid
        raise DataError(
            "its noisy count is not a number as dpol privatize writes it; ask for the release that"
            " it wrote"
        )
    # A holder that has not taken an amendment yet releases by the agreement before it.
    held = [
        agreement.entities[row.entity].beds
        for agreement in agreements
        if row.entity in agreement.entities
        and not (agreement.amends and period < agreement.amends.since)
    ]
    if held and not {None, row.capacity} & {*held}:
        raise DataError(
            f"its capacity is {row.capacity}, and the deployment says {held[-1]}; ask the hospital,"
            " or set its period aside"
        )
    if (
        abs(float(row.noisy_count))
        > float(row.capacity) + MOST_DEVIATIONS * noise.standard_deviation
    ):
        raise DataError(
            f"its noisy count is out of range: more than {MOST_DEVIATIONS} standard deviations of"
            " its noise above the capacity; ask the hospital to correct it, or set its period aside"
        )

"""Counts with their noise, which is a function of the holder's secret and of what is released.

The same count of the same place, period and version gets the same noise, from whatever copy of a
ledger it is released. Any other field gives other noise: see `noisy`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from dpol.core.errors import DataError
from dpol.noise.keyed import discrete_gaussian
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.counts import Count
from dpol_weekly.keys import Secret
from dpol_weekly.noise import in_steps
from dpol_weekly.records import versions
from dpol_weekly.released.read import Report, find_release
from dpol_weekly.released.row import noisy_count

_SAMPLER = "dpol discrete Gaussian 1"


def noisy(secret: Secret, deployment: Deployment, count: Count, version: int) -> str:
    """Return a count with its noise, as it is released.

    Args:
        secret: the holder's secret.
        deployment: the agreement; its amendments give the same noise.
        count: the count. Its place is named as the holder's own table names it.
        version: number of the release of this place and period, from 1.
    """
    noise = deployment.count_noise()
    steps = in_steps(count.count, noise.decimals)
    agreed = deployment.name, deployment.lasting_sha256(), noise.scale, noise.decimals
    row = count.place, count.period, deployment.periods.days, version, steps
    key = secret.key(_SAMPLER, *agreed, *row)
    return noisy_count(count.count, noise, discrete_gaussian(key, noise.scale))


def newest_near(folders: Sequence[Path], label: str, key: str) -> list[Report]:
    """Return the newest release of an output in each folder, if the holder's key has signed it."""
    found = list[Report]()
    for folder in folders:
        with suppress(DataError, ValueError, OSError):
            report = find_release(max(folder.glob(f"{label}-[0-9]*.json")))
            found += [report] if report and report.key == key else []
    return found


def refuse_other(new: Sequence[tuple[Count, int, str]], near: Sequence[Report]) -> None:
    """Refuse rows of which a release of the holder holds other numbers.

    Args:
        new: counts, their versions, and their noisy counts.
        near: releases of the same output.

    Raises:
        DataError: a count was changed since a ledger that was restored, or its secret.
    """
    for report in near:
        held = {(row[0], row[1], version): row[2] for row, version in versions(report.rows)}
        for count, version, text in new:
            if held.get((count.entity, count.period, version), text) != text:
                raise DataError(
                    f"{count.where}: {count.entity} was released for {count.period} with another"
                    f" count, in {report.file}: the ledger is an older copy. Put the newest one"
                    " back, or the count and the secret of then"
                )

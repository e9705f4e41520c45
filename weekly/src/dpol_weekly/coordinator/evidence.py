"""Evidence of a decision: the rows of the log before a period, as arrays, and what they cost.

Arrays have a row for each period and a column for each entity, in the order of the deployment.

Every ledger sees its own releases only. If no entity spends more than its part of the budget in any
period (`dpol_weekly.budget`), then a person of the longest stay loses at most the budget, wherever
the person is counted. Each release costs a person in that count mu^2 / 2, and a person who moves
changes at most two counts in each period, or as many more as `counted_by` says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.errors import DataError
from dpol.core.randomness import Floats
from dpol_weekly.budget import most_in_a_period
from dpol_weekly.coordinator.log import Log
from dpol_weekly.deployment import Deployment


@dataclass(frozen=True, kw_only=True)
class SetAside:
    """A release that the coordinator set aside.

    Args:
        entity: its identifier.
        period: YYYY-MM-DD.
        version: version of the release.
        reason: the coordinator's reason.
    """

    entity: str
    period: str
    version: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Spent:
    """The most that the releases behind a decision cost one person, in Gaussian DP.

    Args:
        mu: mu of a person in one period, who changes a count by at most `count_sensitivity`.
        count_sensitivity: as the agreement says.
        mu_of_stay: mu of a person of the longest stay, over all releases so far.
        longest_stay: longest stay in periods.
        budget_mu: largest mu that the agreement allows for that stay.
        above_budget: entities above their part of the budget, and the periods, YYYY-MM-DD.
        corrections: number of releases that superseded another one; they count.
    """

    mu: float
    count_sensitivity: float
    mu_of_stay: float
    longest_stay: int
    budget_mu: float
    above_budget: tuple[tuple[str, str], ...]
    corrections: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Reports:
    """Reports as (T, n) arrays: NaN where there is none, the last one after a correction.

    Args:
        count: noisy count.
        capacity: reported capacity.
    """

    count: Floats
    capacity: Floats

    @property
    def there(self) -> NDArray[np.bool_]:
        """(T, n) flags of the entities that reported."""
        return ~np.isnan(self.count)

    @property
    def last(self) -> NDArray[np.intp]:
        """(n,) last reported period of each entity; -1 for none."""
        periods = np.arange(len(self.count))[:, None]
        return np.asarray(np.where(self.there, periods, -1).max(axis=0))


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """All reports before a period.

    Args:
        reports: the reports that count.
        set_aside: releases that do not count.
        releases: number of releases that count, superseded ones included.
        spent: privacy cost of all releases for one person.
    """

    reports: Reports
    set_aside: tuple[SetAside, ...]
    releases: int
    spent: Spent


def read_evidence(log: Log, periods: int) -> Evidence:
    """Return the evidence of the first periods.

    Args:
        log: the log to read.
        periods: number T of periods.

    Raises:
        DataError: no report counts.
    """
    deployment = log.deployment
    places = {name: place for place, name in enumerate(deployment.entities)}
    count, capacity = np.full((2, periods, len(places)), np.nan)
    released = np.zeros(count.shape, dtype=int)
    aside, releases = list[SetAside](), 0
    for row in log.releases("period < ?", periods):
        at = row["period"], places[row["entity"]]
        released[at] += 1
        if (reason := row["set_aside"]) is None:
            count[at], capacity[at] = float(row["noisy_count"]), float(row["capacity"])
            releases += 1
            continue
        period = deployment.period_of(row["period"]).isoformat()
        whole = {"entity": row["entity"], "period": period, "version": row["version"]}
        aside.append(SetAside(**whole, reason=reason))
    if not releases:
        ends = deployment.period_of(periods)
        raise DataError(f"{log.path}: nothing was reported before {ends}; take a later one")
    return Evidence(
        reports=Reports(count=count, capacity=capacity),
        set_aside=tuple(aside),
        releases=releases,
        spent=spent_of(deployment, released, corrections=releases - int((~np.isnan(count)).sum())),
    )


def spent_of(deployment: Deployment, released: NDArray[Any], *, corrections: int) -> Spent:
    """Return the privacy cost of releases for one person.

    Args:
        deployment: the agreement: mu, the budget and the longest stay.
        released: (T, n) number of releases of each entity and period.
        corrections: number of releases that superseded another one.
    """
    stay, names = deployment.longest_stay, list(deployment.entities)
    share = most_in_a_period(Fraction(str(deployment.budget_mu)), stay)
    # Releases of an entity and period:
    allowed = int(share / Fraction(str(deployment.mu)) ** 2 / deployment.counted_by)
    # A person who moves loses most at the entities that released most often in a period, in
    # `counted_by` of them before and after, and may be counted in any periods, in a row or not.
    pairs = np.sort(np.sort(released, axis=1)[:, -2 * deployment.counted_by :].sum(axis=1))
    return Spent(
        mu=deployment.mu * math.sqrt(pairs[-1] / 2),
        count_sensitivity=deployment.count_sensitivity,
        mu_of_stay=deployment.mu * math.sqrt(pairs[-stay:].sum() / 2),
        longest_stay=stay,
        budget_mu=deployment.budget_mu,
        above_budget=tuple(
            (names[place], deployment.period_of(number).isoformat())
            for number, place in np.argwhere(released > allowed).tolist()
        ),
        corrections=corrections,
    )

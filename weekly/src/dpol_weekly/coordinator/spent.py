"""Privacy spent by releases, compared with the budget of the agreement.

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

from dpol_weekly.budget import most_in_a_period
from dpol_weekly.deployment import Deployment


@dataclass(frozen=True, kw_only=True)
class AboveBudget:
    """An entity that spent more than its part of the budget in a period.

    Args:
        entity: identifier of the entity.
        period: start of the period, YYYY-MM-DD.
    """

    entity: str
    period: str


@dataclass(frozen=True, kw_only=True)
class Spent:
    """The most that the releases behind a decision cost one person, in Gaussian DP.

    Args:
        mu: mu of a person in one period, who changes a count by at most `count_sensitivity`.
        count_sensitivity: as the agreement says.
        mu_of_stay: mu of a person of the longest stay, over all releases so far.
        longest_stay: longest stay in periods.
        budget_mu: largest mu that the agreement allows for that stay.
        above_budget: entities and periods above their part of the budget.
        corrections: number of releases that superseded another one; they count.
    """

    mu: float
    count_sensitivity: float
    mu_of_stay: float
    longest_stay: int
    budget_mu: float
    above_budget: tuple[AboveBudget, ...]
    corrections: int


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
            AboveBudget(
                entity=names[place],
                period=deployment.period_of(number).isoformat(),
            )
            for number, place in np.argwhere(released > allowed).tolist()
        ),
        corrections=corrections,
    )

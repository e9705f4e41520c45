"""Privacy that releases spend, compared with the budget of the deployment.

Every ledger sees its own releases only. If no entity spends more in a period than its part of the
budget (`dpol_weekly.memory.budget_of_period`), then nobody who stays the longest stay spends more
than the budget, wherever they are counted: they move at most two counts in each period.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from dpol.core.randomness import Floats
from dpol_weekly.deployment import Deployment
from dpol_weekly.memory import budget_of_period, row_weight

_FLOAT_ERROR = 1e-12
"""Relative error of sums in floating point; see `dpol.core.rounding`."""


@dataclass(frozen=True, kw_only=True)
class AboveBudget:
    """A period in which an entity spent more than its part of the budget.

    Args:
        entity: its identifier.
        period: YYYY-MM-DD.
        mu_of_stay: of a person of the longest stay, if all periods were like this one.
    """

    entity: str
    period: str
    mu_of_stay: float


@dataclass(frozen=True, kw_only=True)
class Spent:
    """The most that the releases behind a decision cost one person, in Gaussian DP.

    Args:
        mu: of a person of the unit.
        unit_weeks: the unit: one person in at most so many periods in a row.
        mu_of_stay: of a person of the longest stay, in all releases so far.
        longest_stay: in periods.
        budget_mu: the most that this should be, says the deployment.
        above_budget: where more was spent than that allows.
        corrections: releases that superseded another one; they are counted.
    """

    mu: float
    unit_weeks: int
    mu_of_stay: float
    longest_stay: int
    budget_mu: float
    above_budget: tuple[AboveBudget, ...]
    corrections: int


@cache
def weight_of(mu: str, a: str, b: str, unit_weeks: int, longest_stay: int) -> Fraction:
    """A bound on what a release adds to a stay's squared mu.

    Args:
        mu: decimal text.
        a: of the memory of the noise, likewise.
        b: likewise.
        unit_weeks: the unit of its mu.
        longest_stay: in periods.
    """
    return row_weight(Fraction(mu), (Fraction(a), Fraction(b), unit_weeks), longest_stay)


def period_budget(deployment: Deployment) -> Fraction:
    """The most that the releases of an entity for one period may weigh."""
    return budget_of_period(Fraction(str(deployment.budget_mu)), deployment.longest_stay)


def mu_of_such_stay(weight: float | Fraction, longest_stay: int) -> float:
    """mu of the longest stay if all its periods cost so much at two entities."""
    return math.sqrt(2 * longest_stay * weight)


def spent_of(
    deployment: Deployment,
    *,
    squared_mu: Floats,
    weight: Floats,
    unit_weeks: int,
    corrections: int,
) -> Spent:
    """The privacy cost of releases for one person: a period released twice counts twice.

    Args:
        deployment: the budget, and the longest stay.
        squared_mu: (T, n) sums over the releases of each period and entity.
        weight: (T, n) likewise, see `weight_of`.
        unit_weeks: the shortest stay that a mu protects.
        corrections: releases that superseded another one.
    """
    stay, names = deployment.longest_stay, list(deployment.entities)
    # A person loses most at two entities in each period of a stay.
    pairs = np.sort(weight, axis=1)[:, -2:].sum(axis=1)
    starts = range(max(1, len(pairs) - stay + 1))
    most = float(period_budget(deployment)) * (1 + _FLOAT_ERROR)
    return Spent(
        mu=math.sqrt(squared_mu.max()),
        unit_weeks=unit_weeks,
        mu_of_stay=math.sqrt(max(math.fsum(pairs[it : it + stay]) for it in starts)),
        longest_stay=stay,
        budget_mu=deployment.budget_mu,
        above_budget=tuple(
            AboveBudget(
                entity=names[place],
                period=deployment.period_of(number).isoformat(),
                mu_of_stay=mu_of_such_stay(float(weight[number, place]), stay),
            )
            for number, place in np.argwhere(weight > most).tolist()
        ),
        corrections=corrections,
    )

"""Privacy that releases spend, compared with the budget of the deployment.

Every ledger sees its own releases only. If no entity spends more in a period than its part of the
budget (`dpol_weekly.memory.budget_of_period`), then nobody who stays the longest stay
spends more than the budget, wherever they are counted: they move at most two counts in each period.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np

from dpol.core.randomness import Floats
from dpol_weekly.coordinator.log import TERMS
from dpol_weekly.deployment import Deployment
from dpol_weekly.memory import budget_of_period, row_weight

_FLOAT_ERROR = 1e-12
"""Relative error of sums in floating point; see `dpol.core.rounding`."""


@cache
def weight_of(terms: tuple[str | int, ...], longest_stay: int) -> Fraction:
    """A bound on what a release adds to a stay's squared mu; terms as in `TERMS`."""
    known = dict(zip(TERMS, terms, strict=True))
    memory = Fraction(known["a"]), Fraction(known["b"]), int(known["unit_weeks"])
    return row_weight(Fraction(known["mu"]), memory, longest_stay)


def period_budget(deployment: Deployment) -> Fraction:
    """The most that the releases of an entity for one period may weigh."""
    return budget_of_period(Fraction(str(deployment.budget_mu)), deployment.longest_stay)


def mu_of_such_stay(weight: float | Fraction, longest_stay: int) -> float:
    """mu of the longest stay if all its periods cost so much at two entities."""
    return math.sqrt(2 * longest_stay * weight)


def mu_of_stays(weight: Floats, longest_stay: int) -> float:
    """mu of a person who loses most in a longest stay: at two entities in each of its periods.

    Args:
        weight: (T, n) of the releases of each period and entity.
        longest_stay: in periods.
    """
    pairs = np.partition(weight, -2, axis=1)[:, -2:].sum(axis=1)
    starts = range(max(1, len(pairs) - longest_stay + 1))
    return math.sqrt(max(math.fsum(pairs[it : it + longest_stay]) for it in starts))


def above_budget(weight: Floats, deployment: Deployment) -> list[tuple[int, int]]:
    """Period and entity, by their numbers, of each that weighs more than its part of the budget."""
    most = float(period_budget(deployment)) * (1 + _FLOAT_ERROR)
    return [(int(period), int(entity)) for period, entity in np.argwhere(weight > most)]

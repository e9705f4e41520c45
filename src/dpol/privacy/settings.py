"""Privacy levels: which ones a config may ask for, their labels and their order."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field, ValidatorFunctionWrapHandler, WrapValidator

from dpol.core.words import shortest

LEAST_MU, MOST_MU = 1e-3, 1e3
"""Allowed privacy levels; outside this range noise drowns every number, or is negligible."""
DELTA = 1e-6
"""Delta of the guarantees of all studies, so that their epsilons are comparable."""


def _level(value: object, number: ValidatorFunctionWrapHandler) -> float:
    """Return a mu in [`LEAST_MU`, `MOST_MU`], or infinity. Raises ValueError for other values."""
    if value == ".inf":  # as Snakemake hands on the values of --config
        return math.inf
    mu = math.nan if isinstance(value, bool) else float(number(value))
    # Python reads text such as 1e400 as infinity, which would mean no privacy.
    if not (LEAST_MU <= mu <= MOST_MU or (mu == math.inf and not isinstance(value, str))):
        raise ValueError(f"must be from {LEAST_MU:g} to {MOST_MU:g}, or .inf for no noise")
    return mu


Mu = Annotated[float, WrapValidator(_level)]
FiniteMu = Annotated[float, Field(ge=LEAST_MU, le=MOST_MU)]


def label_of_level(mu: float) -> str:
    """Return the label of a privacy level, in names of files and the column `level`.

    >>> label_of_level(1.0), label_of_level(0.25), label_of_level(math.inf)
    ('mu-1', 'mu-0.25', 'mu-inf')
    """
    return f"mu-{shortest(mu)}"


def ordered_levels(levels: Iterable[float]) -> list[float]:
    """Return the privacy levels, from no privacy to the strictest."""
    return sorted(levels, reverse=True)


def headline_level(levels: Iterable[float]) -> float:
    """Return the level that headlines name: the middle one with noise, or `inf` without any."""
    noisy = [mu for mu in ordered_levels(levels) if mu < math.inf] or [math.inf]
    return noisy[len(noisy) // 2]


def keeps_level(guaranteed: Any, mu: Any) -> Any:
    """Return whether guaranteed mu, of numbers or columns, are at most their levels."""
    return guaranteed <= mu * (1 + 1e-9)

"""Privacy levels in a config."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field, ValidatorFunctionWrapHandler, WrapValidator

from dpol.core.rounding import shortest

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

"""Privacy levels in a config."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field, ValidatorFunctionWrapHandler, WrapValidator

LEAST_MU, MOST_MU = 1e-3, 1e3
"""Allowed privacy levels; outside this range noise drowns every number, or is negligible."""


def _level(value: object, number: ValidatorFunctionWrapHandler) -> float:
    """Return a mu in [`LEAST_MU`, `MOST_MU`], or infinity. Raises ValueError for other values."""
    mu = math.nan if isinstance(value, bool) else float(number(value))
    # Python reads text such as 1e400 as infinity, which would mean no privacy.
    if not (LEAST_MU <= mu <= MOST_MU or (mu == math.inf and not isinstance(value, str))):
        raise ValueError(f"must be from {LEAST_MU:g} to {MOST_MU:g}, or .inf for no noise")
    return mu


Mu = Annotated[float, WrapValidator(_level)]
FiniteMu = Annotated[float, Field(ge=LEAST_MU, le=MOST_MU)]

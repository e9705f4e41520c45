"""Privacy levels in a config."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

LEAST_MU, MOST_MU = 1e-3, 1e3
"""Allowed privacy levels; outside this range noise drowns every number, or is negligible."""


def level(value: float) -> float:
    """Return a mu in [`LEAST_MU`, `MOST_MU`], or infinity. Raises ValueError for other values."""
    if not (LEAST_MU <= value <= MOST_MU or value == math.inf):
        raise ValueError(f"must be from {LEAST_MU:g} to {MOST_MU:g}, or .inf for no noise")
    return value


def no_truth_value(value: object) -> object:
    """Return the value. Raises ValueError for a boolean, which Python accepts as 1 or 0."""
    if isinstance(value, bool):
        raise ValueError("must not be true or false")
    return value


Mu = Annotated[float, BeforeValidator(no_truth_value), AfterValidator(level)]
FiniteMu = Annotated[float, Field(ge=LEAST_MU, le=MOST_MU)]

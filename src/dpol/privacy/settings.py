"""Privacy levels in a config."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

LEAST_MU, MOST_MU = 1e-3, 1e3
"""Privacy levels outside drown every number in noise, or add next to none."""


def level(value: float) -> float:
    """A mu between `LEAST_MU` and `MOST_MU`, or infinity. Raises ValueError for any other."""
    if not (LEAST_MU <= value <= MOST_MU or value == math.inf):
        raise ValueError(f"must lie from {LEAST_MU:g} to {MOST_MU:g}; .inf means no privacy noise")
    return value


def no_truth_value(value: object) -> object:
    """Anything but true and false, which Python takes for 1 and 0. Raises ValueError for them."""
    if isinstance(value, bool):
        raise ValueError("must not be true or false")
    return value


Mu = Annotated[float, BeforeValidator(no_truth_value), AfterValidator(level)]
FiniteMu = Annotated[float, Field(ge=LEAST_MU, le=MOST_MU)]

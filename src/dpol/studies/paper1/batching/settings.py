"""Settings of the study of batching."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from dpol.core.settings import Settings, Several
from dpol.privacy.settings import FiniteMu

Bound = Literal["borell-tis", "reflection"]
"""Switching bounds of RW-AdaBatch."""


class Batching(Settings):
    """Privacy amplification of RW-AdaBatch on all-zero gains (the worst case)."""

    n_experts: Several[Annotated[int, Field(ge=2, le=10_000)]]
    """Numbers of experts n."""
    mus: Several[FiniteMu]
    """Gaussian-DP parameters mu for a change of one round's gain vector."""
    n_rounds: Annotated[int, Field(ge=1, le=20_000)] = 1000
    """Number of rounds T."""
    rounds: Several[PositiveInt] = [500]
    """Rounds t whose protection is computed.

    The figure shows the first."""
    alpha: Annotated[float, Field(gt=0, le=1e6)] = 0.01
    """Tolerance for batching, by default that of the paper's experiments."""
    bounds: Several[Bound] = ["borell-tis", "reflection"]
    """Switching bounds.

    The figure shows the first."""
    replicates: Annotated[int, Field(ge=2, le=1_000_000)] = 1000
    """Monte Carlo runs."""

    @model_validator(mode="after")
    def _inside(self) -> Batching:
        if max(self.rounds) > self.n_rounds:
            raise ValueError(f"rounds must be at most n_rounds ({self.n_rounds})")
        return self


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What Figure 1 and Table 1 show besides results.

    Args:
        replicates: Monte Carlo runs.
        regret_bounds: bound on the expected regret of each algorithm that has one, by name.
    """

    replicates: int
    regret_bounds: Mapping[str, str]

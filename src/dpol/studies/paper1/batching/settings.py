"""Settings of the study of batching."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from dpol.core.settings import Settings, Several
from dpol.privacy.settings import FiniteMu


class Batching(Settings):
    """Privacy amplification of RW-AdaBatch on all-zero gains (the worst case)."""

    n_experts: Several[Annotated[int, Field(ge=2, le=10_000)]]
    """Numbers of experts n."""
    mus: Several[FiniteMu]
    """Gaussian-DP parameters mu for a change of one round's gain vector."""
    n_rounds: Annotated[int, Field(ge=1, le=20_000)] = 1000
    """Number of rounds T; the protection of the middle one is computed."""
    alpha: Annotated[float, Field(gt=0, le=1e6)] = 0.01
    """Tolerance for batching, by default that of the paper's experiments."""
    replicates: Annotated[int, Field(ge=2, le=1_000_000)] = 1000
    """Monte Carlo runs."""


@dataclass(frozen=True, kw_only=True)
class BatchingPoint:
    """Games of T rounds and n experts, at several mu.

    Args:
        n_rounds: number of rounds T.
        n_experts: number of experts n.
        mus: Gaussian-DP parameters mu for a change of one round's gain vector.
        alpha: tolerance for batching.
        replicates: number of Monte Carlo runs.
        delta: delta at which epsilon is reported.
    """

    n_rounds: int
    n_experts: int
    mus: tuple[float, ...]
    alpha: float
    replicates: int
    delta: float

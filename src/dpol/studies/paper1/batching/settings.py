"""Settings of the study of batching."""

from __future__ import annotations

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


Asked = tuple[Batching, float]
"""The settings, and the delta at which epsilon is reported."""

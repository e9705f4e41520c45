"""A point of the study of batching."""

from __future__ import annotations

from dataclasses import dataclass


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

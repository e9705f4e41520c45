"""A point of the study of L2P for experts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class LazyPoint:
    """Games of T rounds and d experts, at several epsilons.

    Args:
        n_rounds: number of rounds T.
        n_experts: number of experts d.
        epsilons: privacy epsilons for a change of one round's loss vector, on stochastic losses.
        alternating_epsilons: the same on alternating losses.
        delta: privacy delta.
        gap: advantage of the best expert in the stochastic losses.
        replicates: runs of every setting.
        algorithms: algorithms that play, in the order of the rows.
    """

    n_rounds: int
    n_experts: int
    epsilons: tuple[float, ...]
    alternating_epsilons: tuple[float, ...]
    delta: float
    gap: float
    replicates: int
    algorithms: tuple[str, ...]

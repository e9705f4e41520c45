"""A point of the study of L2P for convex losses."""

from __future__ import annotations

from dataclasses import dataclass

from dpol.studies.paper2.convex.settings import LossName


@dataclass(frozen=True, kw_only=True)
class ConvexPoint:
    """Games of T rounds in d dimensions at several epsilons.

    Args:
        n_rounds: number of rounds T.
        dimension: dimension d.
        loss: kind of losses.
        epsilons: privacy epsilon for a change of one round's loss.
        delta: privacy delta.
        replicates: runs of every setting.
    """

    n_rounds: int
    dimension: int
    loss: LossName
    epsilons: tuple[float, ...]
    delta: float
    replicates: int

"""Settings of the study of L2P for convex losses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dpol.core.settings import Settings, Several
from dpol.studies.paper2.lazy.settings import Epsilons

LossName = Literal["linear", "logistic"]
"""Kinds of losses."""


class Convex(Settings):
    """Regret of L2P and of other algorithms for convex losses on a ball."""

    n_rounds: Several[Annotated[int, Field(ge=2, le=1_000_000)]]
    """Numbers of rounds T."""
    dimensions: Several[Annotated[int, Field(ge=1, le=10_000)]]
    """Dimensions d."""
    epsilons: Epsilons
    """Privacy epsilon for a change of one round's loss."""
    losses: Several[LossName] = ["linear"]
    """Kinds of losses."""
    replicates: Annotated[int, Field(ge=2, le=1_000_000)] = 20
    """Runs of every setting."""

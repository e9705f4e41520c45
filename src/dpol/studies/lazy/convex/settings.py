"""Settings of the study of L2P for convex losses."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dpol.core.settings import Settings


class Convex(Settings):
    """Regret of L2P for linear losses on a ball, compared with its competitors."""

    n_rounds: Annotated[list[Annotated[int, Field(ge=2, le=1_000_000)]], Field(min_length=1)]
    """Numbers of rounds T."""
    dimensions: Annotated[list[Annotated[int, Field(ge=1, le=10_000)]], Field(min_length=1)]
    """Dimensions d."""
    epsilons: Annotated[list[Annotated[float, Field(gt=0, le=100)]], Field(min_length=1)]
    """Privacy of a change of one round's loss."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """delta of the guarantee."""
    diameter: Annotated[float, Field(ge=1e-6, le=1e6)] = 2.0
    """Diameter D of the ball."""
    lipschitz: Annotated[float, Field(ge=1e-6, le=1e6)] = 1.0
    """Lipschitz constant L of the losses."""
    replicates: Annotated[int, Field(ge=2, le=1_000_000)] = 20
    """Runs of every setting."""

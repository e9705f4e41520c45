"""Settings of the studies that have no room yet."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from dpol.core.settings import Settings


class Lazy(Settings):
    """Regret of L2P for experts on synthetic losses, beside its competitors."""

    n_rounds: Annotated[list[Annotated[int, Field(ge=2, le=10_000_000)]], Field(min_length=1)]
    """Numbers of rounds T."""
    n_experts: Annotated[list[Annotated[int, Field(ge=2, le=100_000)]], Field(min_length=1)]
    """Numbers of experts d."""
    epsilons: Annotated[list[Annotated[float, Field(gt=0, le=100)]], Field(min_length=1)]
    """Privacy of a change of one round's whole loss vector."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """delta of the guarantee."""
    gap: Annotated[float, Field(gt=0, le=0.5)] = 0.1
    """Advantage of the best expert in the stochastic losses."""
    accountants: Annotated[list[Literal["sound", "published"]], Field(min_length=1)] = [
        "sound",
        "published",
    ]
    """Accountants by which L2P is calibrated."""
    replicates: Annotated[int, Field(ge=2, le=1_000_000)] = 20
    """Runs of every setting."""
    largest_tree: PositiveInt = 3_000_000
    """Largest T times d at which the tree FTPL is run beside."""


class Convex(Settings):
    """Regret of L2P for online convex optimisation on a ball, beside its competitors."""

    families: Annotated[list[Literal["linear", "logistic"]], Field(min_length=1)] = ["linear"]
    """Families of losses."""
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
    steps: Annotated[int, Field(ge=1, le=100_000)] = 100
    """Hit-and-run moves for one draw with logistic losses (linear losses are drawn exactly)."""
    largest_logistic: PositiveInt = 1000
    """Largest T at which logistic losses are run: the cost of a draw grows with T."""
    replicates: Annotated[int, Field(ge=2, le=1_000_000)] = 20
    """Runs of every setting."""

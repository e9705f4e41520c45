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


class Sweeps(Settings):
    """Values that are tried, the other numbers being those of the base."""

    rounds: list[Annotated[int, Field(ge=2, le=10_000_000)]] = []
    """Numbers of rounds T."""
    labels: list[Annotated[int, Field(ge=2, le=100_000)]] = []
    """Numbers of labels M."""
    hypotheses: list[Annotated[int, Field(ge=2, le=1024)]] = []
    """Numbers of hypotheses K."""
    epsilons: list[Annotated[float, Field(gt=0, le=100)]] = []
    """Privacy of a message; the streams are played at each of them."""


class Distributions(Settings):
    """Risk of learning a distribution from locally private labels.

    One setting is the base; each sweep changes one of its numbers. A `random` class has
    hypotheses drawn from a Dirichlet distribution; the sweep of rounds adds the `hard` class of
    the lower bound.
    """

    n_hypotheses: Annotated[int, Field(ge=2, le=1024)] = 4
    """Number of hypotheses K of the base; the hard class needs an even one."""
    n_labels: Annotated[int, Field(ge=2, le=100_000)] = 100
    """Number of labels M of the base."""
    n_rounds: Annotated[int, Field(ge=2, le=10_000_000)] = 1_000_000
    """Number of rounds T of the base."""
    epsilon: Annotated[float, Field(gt=0, le=100)] = 4.0
    """Privacy of one message of the base."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """delta of private WMA."""
    sweeps: Sweeps = Sweeps()
    """What is tried in place of the base, one number at a time."""
    concentration: Annotated[float, Field(ge=1e-3, le=1e6)] = 1.0
    """Of the Dirichlet distribution; below 1, hypotheses put most mass on few labels."""
    patients_per_week: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Labels a week on the streams: the hospital of a random patient. Without it, no streams."""
    groups: Annotated[int, Field(ge=3, le=99)] = 5
    """Independent learners, each with T / groups rounds, behind the median selector."""
    replicates: Annotated[int, Field(ge=2, le=1_000_000)] = 8
    """Runs of every setting."""

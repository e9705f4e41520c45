"""The studies beside the main experiment; a config without a study's block leaves it out."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from dpol.settings import CalibrationName, FiniteMu, Label, Model


class Amplification(Model):
    """How much RW-AdaBatch amplifies privacy, on gains that are all zero (the worst case)."""

    n_experts: Annotated[list[Annotated[int, Field(ge=2, le=10_000)]], Field(min_length=1)]
    """Numbers of experts n."""
    mus: Annotated[list[FiniteMu], Field(min_length=1)]
    """Gaussian-DP parameters mu of one round, for a change of its whole gain vector."""
    n_rounds: Annotated[int, Field(ge=1, le=20_000)] = 1000
    """Number of rounds T."""
    rounds: Annotated[list[PositiveInt], Field(min_length=1)] = [500]
    """Rounds t whose protection is computed; the figure shows the first."""
    alpha: Annotated[float, Field(gt=0, le=1e6)] = 0.1
    """Tolerance of RW-AdaBatch for batching."""
    bounds: Annotated[list[Literal["borell-tis", "reflection"]], Field(min_length=1)] = [
        "borell-tis",
        "reflection",
    ]
    """Switching bounds."""
    replicates: Annotated[int, Field(ge=2, le=1_000_000)] = 1000
    """Runs of the Monte Carlo estimate."""

    @model_validator(mode="after")
    def _inside(self) -> Amplification:
        if max(self.rounds) > self.n_rounds:
            raise ValueError(f"rounds must be at most n_rounds ({self.n_rounds})")
        return self


class Sweeps(Model):
    """Values that are tried, the other numbers being those of the base."""

    rounds: list[Annotated[int, Field(ge=2, le=10_000_000)]] = []
    """Numbers of rounds T."""
    labels: list[Annotated[int, Field(ge=2, le=100_000)]] = []
    """Numbers of labels M."""
    hypotheses: list[Annotated[int, Field(ge=2, le=1024)]] = []
    """Numbers of hypotheses K."""
    epsilons: list[Annotated[float, Field(gt=0, le=100)]] = []
    """Privacy of a message; the streams are played at each of them."""


class Distributions(Model):
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


class Audit(Model):
    """Audits of every mechanism, and the ledger of what the papers claim."""

    runs: Annotated[int, Field(ge=100, le=100_000)] = 20_000
    """Runs of a mechanism on each of two adjacent inputs; ten messages about a label are one."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    """Confidence with which all sampled lower bounds hold together."""
    mu: FiniteMu = 1.0
    """Gaussian-DP parameter that the audited mechanisms are calibrated to."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """delta of the claims of L2P and private WMA."""


class System(Model):
    """A whole private system: an algorithm, its noise, and the learners it is built from."""

    algorithm: Label
    """Label of an algorithm that a suite plays."""
    calibration: CalibrationName
    """How its noise is scaled."""
    learners: Label
    """Family of the learners that it selects from or averages. The best of them in hindsight is
    the oracle selector beside which its own selection is judged."""


class Aim(Model):
    """Ours at one privacy level beside something at another level."""

    ours: Label
    """Privacy level of ours."""
    against: Literal["paper", "best-learner"]
    """`paper`: the paper's way. `best-learner`: the best of its learners in hindsight."""
    at: Label
    """Privacy level of what ours is compared with."""


class Comparison(Model):
    """The paper's way and ours side by side, and where the losses come from."""

    paper: System
    """The paper's way."""
    ours: System
    """Ours."""
    ablations: list[System] = []
    """Systems between the two, with rows of their own in the table of ablations."""
    aims: list[Aim] = []
    """Comparisons across privacy levels, each with a verdict."""

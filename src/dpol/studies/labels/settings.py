"""The block `labels` of a config."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from dpol.core.settings import Problem, Settings, all_different

Features = Literal["constant", "cyclic", "adversarial"]


class LabelSweeps(Settings):
    """Values that are tried, the other numbers being those of the base."""

    rounds: Annotated[
        list[Annotated[int, Field(ge=2, le=10_000_000)]], AfterValidator(all_different)
    ] = []
    """Numbers of rounds T."""
    labels: Annotated[
        list[Annotated[int, Field(ge=2, le=100_000)]], AfterValidator(all_different)
    ] = []
    """Numbers of labels M."""
    hypotheses: Annotated[
        list[Annotated[int, Field(ge=2, le=1024)]], AfterValidator(all_different)
    ] = []
    """Numbers of hypotheses K."""
    epsilons: Annotated[
        list[Annotated[float, Field(gt=0, le=100)]], AfterValidator(all_different)
    ] = []
    """Privacy of a message; the streams are played at each of them."""
    features: Annotated[list[Features], AfterValidator(all_different)] = []
    """Ways to choose features: `constant`, `cyclic` (in turn) or `adversarial` (by an adversary
    that sees all messages, and shows what costs the learner most next)."""


class Labels(Settings):
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
    n_features: Annotated[int, Field(ge=2, le=1000)] = 4
    """Number of different features in the sweep of features; elsewhere all rounds show the same."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """delta of private WMA."""
    sweeps: LabelSweeps = LabelSweeps()
    """Values to try in place of the base, one number at a time."""
    concentration: Annotated[float, Field(ge=1e-3, le=1e6)] = 1.0
    """Parameter of the Dirichlet distribution; below 1, hypotheses put most mass on few labels."""
    patients_per_week: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Labels a week on the streams: the hospital of a random patient. Without it, no streams."""
    groups: Annotated[int, Field(ge=3, le=99)] = 5
    """Independent learners, each with T / groups rounds, behind the median selector."""
    replicates: Annotated[int, Field(ge=2, le=1_000_000)] = 8
    """Runs of every setting."""

    def problems(self, source: str) -> Iterator[Problem]:
        """Streams of patients need counts."""
        if source == "gains" and self.patients_per_week is not None:
            allowed = "must not be given because dataset.source.kind is gains: its gains have no"
            yield Problem(("patients_per_week",), self.patients_per_week, f"{allowed} people")

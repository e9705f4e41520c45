"""The block `labels` of a config."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from dpol.core.settings import Different, Settings

N_HYPOTHESES, N_LABELS = 4, 100
"""Hypotheses K and labels M of the base, in the middle of the values that our configs sweep; the
hard class needs an even K."""


class LabelSweeps(Settings):
    """Values to try instead of the base, one number at a time."""

    rounds: Different[Annotated[int, Field(ge=2, le=10_000_000)]] = []
    """Numbers of rounds T."""
    labels: Different[Annotated[int, Field(ge=2, le=100_000)]] = []
    """Numbers of labels M."""
    hypotheses: Different[Annotated[int, Field(ge=2, le=1024)]] = []
    """Numbers of hypotheses K."""
    epsilons: Different[Annotated[float, Field(gt=0, le=100)]] = []
    """Privacy epsilons of one message; also used for the streams."""


class Labels(Settings):
    """Risk of learning a distribution from locally private labels.

    One setting is the base; each sweep changes one of its numbers. A `random` class has
    hypotheses drawn uniformly from all distributions; the sweep of rounds adds the `hard` class of
    the lower bound.
    """

    n_rounds: Annotated[int, Field(ge=2, le=10_000_000)] = 1_000_000
    """Number of rounds T."""
    epsilon: Annotated[float, Field(gt=0, le=100)] = 4.0
    """Privacy epsilon of one message."""
    sweeps: LabelSweeps = LabelSweeps()
    patients_per_week: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Labels (hospitals of random patients) per week of the streams; default: no streams."""
    replicates: Annotated[int, Field(ge=2, le=1_000_000)] = 8
    """Runs of every setting."""


COLUMN_OF = {"rounds": "T", "labels": "M", "hypotheses": "K", "epsilons": "epsilon"}
"""Column of the table of risks that each sweep changes, by the name of the sweep."""
HOSPITALS = "hospitals"
"""Name, in place of a sweep, of the rows on the streams."""


@dataclass(frozen=True, kw_only=True)
class ClassPoint:
    """Learn a synthetic class: K, M, T and the privacy of a message, one of them swept.

    Args:
        sweep: name of the sweep.
        kind: kind of the class.
        K: number of hypotheses.
        M: number of labels.
        T: number of rounds.
        epsilon: privacy epsilon of one message.
        replicates: runs of the setting.
    """

    sweep: str
    kind: Literal["random", "hard"]
    K: int
    M: int
    T: int
    epsilon: float
    replicates: int


LabelsPoint = ClassPoint | Labels
"""A synthetic class; or a stream, by the settings: the hospital of a random patient of each week
is learned, at the epsilons of the sweep."""

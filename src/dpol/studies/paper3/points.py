"""Points of the study of private labels: synthetic classes, and the hospitals of a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A synthetic class: K, M, T and the privacy of a message, one of them swept."""

    sweep: str
    kind: Literal["random", "hard"]
    K: int
    M: int
    T: int
    epsilon: float


@dataclass(frozen=True, kw_only=True)
class ClassesPoint:
    """Learn some synthetic classes.

    Args:
        classes: the classes, in the order of the rows.
        delta: privacy delta of private WMA.
        replicates: runs of every setting.
    """

    classes: tuple[Setting, ...]
    delta: float
    replicates: int


@dataclass(frozen=True, kw_only=True)
class HospitalsPoint:
    """Learn the hospital of a random patient of each week of a stream.

    Args:
        patients_per_week: labels per week.
        epsilons: privacy epsilons of one message.
        delta: privacy delta of private WMA.
        replicates: runs of every setting.
    """

    patients_per_week: int
    epsilons: tuple[float, ...]
    delta: float
    replicates: int


LabelsPoint = ClassesPoint | HospitalsPoint

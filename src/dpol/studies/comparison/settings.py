"""Settings of the comparison of systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpol.core.settings import Different, Label, Settings
from dpol.studies.games.settings import NoiseName, Suites


class System(Settings):
    """A private system: an algorithm and its noise."""

    algorithm: Label
    """Label of an algorithm that a suite plays."""
    noise: NoiseName
    """Noise of the algorithm."""


class Comparison(Settings):
    """Our method, or yours, which every other system is compared with."""

    ours: System | None = None
    """Our method, or yours; by default none.

    Every system is also compared with the baseline, which is the first paper's RW-Meta with its
    noise, and with the strongest rival at a level: the best of all systems of other families with
    the same guarantee. The best curator of a level is the best of these and of those that see raw
    gains."""
    @property
    def system(self) -> tuple[str, str] | None:
        """Algorithm and noise of our method."""
        return None if self.ours is None else (self.ours.algorithm, self.ours.noise)


class ComparisonSettings(Comparison):
    """The block, and the keys of a config that the comparison depends on."""

    suites: Suites = {}
    """The suites by label."""
    replicates: int = 1
    """Repetitions of every randomised run."""
    questions: dict[str, str] = {}
    """Label of the question of each gain stream, by label of the stream."""
    apart: bool = False
    """Whether no two streams of a question count the same people."""
    read_as: Different[Label] = []
    """Labels of further readings of numbers that nobody measured."""


@dataclass(frozen=True, kw_only=True)
class StandingsPoint:
    """Make the standings of the games that were played.

    Args:
        ours: algorithm and noise of our method, or yours; None if the run names none.
        questions: label of the question of each stream, by label of the stream.
        apart: whether no two streams of a question count the same people.
        confidence: joint confidence of the intervals.
    """

    ours: tuple[str, str] | None
    questions: Mapping[str, str]
    apart: bool
    confidence: float


@dataclass(frozen=True, kw_only=True)
class ReadingPoint:
    """Play our method, the baseline and the strongest rivals at a reading of unmeasured numbers.

    Args:
        stream: label of the stream.
        reading: label of the reading.
        ours: algorithm and noise of our method, or yours.
        entries: entries of the suites.
        replicates: number of repetitions.
    """

    stream: str
    reading: str
    ours: tuple[str, str]
    entries: tuple[Any, ...]
    replicates: int


ComparisonPoint = StandingsPoint | ReadingPoint

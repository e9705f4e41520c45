"""Points of the comparison: one makes the standings, the others play games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NoiseLevel = tuple[str, float]
"""Noise and mu of a game."""


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


@dataclass(frozen=True, kw_only=True)
class MemoryPoint:
    """Play a stream with correlated and with independent noise for a unit of several weeks.

    Args:
        readers: algorithms that read the noise, as in a config, each with its games.
        weeks: number of consecutive weeks in which a person may be counted.
        replicates: number of repetitions.
    """

    readers: tuple[tuple[Any, tuple[NoiseLevel, ...]], ...]
    weeks: int
    replicates: int


ComparisonPoint = StandingsPoint | ReadingPoint | MemoryPoint

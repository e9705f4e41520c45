"""Points of the comparison: one compares the games of the main study, the others play games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpol.studies.comparison.settings import Comparison

Game = tuple[str, float]
"""Noise and mu of a game."""


@dataclass(frozen=True, kw_only=True)
class SystemsPoint:
    """Compare the games that were played.

    Args:
        comparison: the systems, without `memory`.
        levels: mu of each privacy level, by label.
        confidence: joint confidence of all intervals.
        question_of: label of the question of each stream, by label of the stream; empty if all
            streams are asked one question.
    """

    comparison: Comparison
    levels: Mapping[str, float]
    confidence: float
    question_of: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class ReadingsPoint:
    """Play the compared systems on a stream at each reading of numbers that nobody measured.

    Args:
        stream: label of the stream.
        readings: labels of the readings, which are also names of the point's inputs.
        levels: mu of each privacy level, by label.
        systems: entry of a suite and noise of each system, ours last.
        replicates: number of repetitions.
    """

    stream: str
    readings: tuple[str, ...]
    levels: Mapping[str, float]
    systems: tuple[tuple[Any, str], ...]
    replicates: int


@dataclass(frozen=True, kw_only=True)
class MemoryPoint:
    """Play a stream with correlated and with independent noise for a unit of several weeks.

    Args:
        readers: algorithms that read the noise, as in a config, each with its games.
        weeks: number of consecutive weeks in which a person may be counted.
        replicates: number of repetitions.
    """

    readers: tuple[tuple[Any, tuple[Game, ...]], ...]
    weeks: int
    replicates: int


ComparisonPoint = SystemsPoint | ReadingsPoint | MemoryPoint

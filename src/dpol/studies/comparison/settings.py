"""Settings of the comparison: systems and correlated noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from dpol.core.settings import Different, Label, Settings, Several, all_different
from dpol.noise import find_noise
from dpol.privacy.account import SAME, promises_of
from dpol.privacy.settings import FiniteMu
from dpol.studies.games.settings import AlgorithmSpec, NoiseName, Suites


class System(Settings):
    """A private system: an algorithm and its noise."""

    algorithm: Label
    """Label of an algorithm that a suite plays."""
    noise: NoiseName
    """Noise of the algorithm."""


class NoiseRead(Settings):
    """A noise, and the algorithm that reads it."""

    noise: NoiseName
    """Noise of the gains."""
    algorithm: AlgorithmSpec = "persistence"
    """One algorithm that can use the noise, as in a suite."""

    def levels(self, mu: float, weeks: int, delta: float) -> dict[str, float]:
        """Return the level at which the noise keeps each promise of `promises_of`."""
        mechanism = find_noise(self.noise).mechanism
        if mechanism is None:
            return {SAME: mu}
        promises = promises_of(mu, delta).items()
        return {name: mechanism.level(promise, weeks) for name, promise in promises}


class NoiseMemories(Settings):
    """Comparison of designed correlated noise with independent noise, for units of several
    weeks."""

    weeks: Annotated[
        list[Annotated[int, Field(ge=1, le=520)]],
        Field(min_length=1, max_length=6),
        AfterValidator(all_different),
    ] = [1, 2, 4, 8]
    """Longest stays that are protected, in consecutive weeks; both noises protect each."""
    mus: Several[FiniteMu]
    """Gaussian-DP parameters mu of these stays."""
    algorithm: AlgorithmSpec = "random-effects"
    """One algorithm that can use correlated noise, as in a suite."""
    rivals: Different[NoiseRead] = []
    """Further noises, each with its reader, such as mechanisms for streams.

    Noise that is not Gaussian plays at each promise: μ itself, the same best guess of an attacker,
    the same ε at `privacy.delta`, and this ε at δ = 0. For budget absorption and PeGaSus the guess
    is a bound, and ε is at δ = 0; for the others all are accounted together."""


class Comparison(Settings):
    """Our method, or yours, which every other system is compared with."""

    ours: System | None = None
    """Our method, or yours; by default none.

    Every system is also compared with the baseline, which is the first paper's RW-Meta with its
    noise, and with the strongest rival at a level: the best of all systems of other families with
    the same guarantee. The best curator of a level is the best of these and of those that see raw
    gains."""
    memory: NoiseMemories | None = None
    """Comparison of correlated with independent noise."""

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

"""The seeds of a game: of the noise on its gains, and of its algorithms."""

from __future__ import annotations

from dataclasses import dataclass

from dpol.core.randomness import ReplicateGenerators, replicate_generators


@dataclass(frozen=True, kw_only=True)
class Seeds:
    """Seed and names that, with a purpose, fix the random numbers of a game.

    Args:
        seed: root of all randomness.
        stream: label of the stream.
        noise: name of the noise; `none` where nothing is private.
        mu: privacy level.
        replicates: numbers of the replicates.
    """

    seed: int
    stream: str
    noise: str
    mu: float
    replicates: tuple[int, ...]

    def local_noise(self) -> ReplicateGenerators:
        """Return generators of the noise on the gains, which all algorithms of a suite share."""
        return self._generators("local noise")

    def algorithm(self, label: str) -> ReplicateGenerators:
        """Return generators of an algorithm's own randomness, by its label in a suite."""
        return self._generators(f"algorithm {label}")

    def _generators(self, purpose: str) -> ReplicateGenerators:
        key = (self.stream, self.noise, self.mu)
        return replicate_generators(self.seed, key, self.replicates, purpose)

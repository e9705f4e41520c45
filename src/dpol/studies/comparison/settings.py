"""Settings of the comparison: systems and correlated noise."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from dpol.core.settings import Different, Label, Settings, Several, all_different
from dpol.noise import find_noise
from dpol.privacy.settings import FiniteMu
from dpol.studies.comparison.promises import SAME, promises_of
from dpol.studies.games.settings import AlgorithmSpec, NoiseName


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
    the same ε at `privacy.delta`, and this ε at δ = 0. For the two budgets and PeGaSus the guess is
    a bound, and ε is at δ = 0; for the others all are accounted together."""


class Comparison(Settings):
    """Our method, or yours, which every other system is compared with."""

    ours: System | None = None
    """Our method, or yours; by default none.

    Every system is also compared with the baseline, which is the first paper's RW-Meta with its
    noise, and with the strongest rival at a level: the best of all systems of other families that
    promise the same."""
    chosen_on: str = ""
    """Data on which our method was chosen, in words, for the head of the page."""
    memory: NoiseMemories | None = None
    """Comparison of correlated with independent noise."""

    @property
    def system(self) -> tuple[str, str] | None:
        """Algorithm and noise of our method."""
        return None if self.ours is None else (self.ours.algorithm, self.ours.noise)

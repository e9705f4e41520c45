"""Play the largest mean of the last noisy gains, lowered by a margin for their noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpol.core.arguments import check_number, check_whole
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import Actions, LocalAlgorithm, LocalSetup, Observation, ReadsNoise


@dataclass(frozen=True)
class RecentRounds:
    """Scores of the next round (R, n), and the rounds they come from, oldest first.

    Of each round there are the noisy gains (R, n) and the variances (n,) of their noise.
    """

    scores: Floats
    rounds: tuple[tuple[Floats, Floats], ...] = ()


@dataclass(frozen=True)
class CautiousMean(LocalAlgorithm[RecentRounds]):
    """The largest mean of the last noisy gains; expert 0 in round 1.

    The largest of many noisy means is often that of the noisiest expert, so `caution` standard
    errors of the noise are subtracted from each. Such a lower confidence bound plays the noisiest
    expert only if its mean is far above the others. Noise of one size on all experts takes the same
    off every mean, and leaves the plain mean. A mean of one round reads any noise.

    Args:
        window: w, rounds in the mean.
        caution: standard errors of the noise to subtract from the mean.

    Raises:
        ValueError: a parameter is out of its range.
    """

    window: int = 4
    caution: float = 1.0

    origin = "standard"

    def __post_init__(self) -> None:
        check_whole("window", self.window)
        check_number("caution", self.caution, "[0, 100]")

    @property
    def reads_noise(self) -> ReadsNoise:
        return "any" if self.window == 1 else "independent"

    def init(self, setup: LocalSetup) -> RecentRounds:
        return RecentRounds(np.zeros((setup.n_replicates, setup.n_experts)))

    def step(
        self, state: RecentRounds, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[RecentRounds, Actions]:
        if observation is not None:
            seen = observation.gains, observation.noise_scale**2
            rounds = (*state.rounds, seen)[-self.window :]
            gains, variances = map(sum, zip(*rounds, strict=True))
            error = np.sqrt(variances) / len(rounds)
            state = RecentRounds(gains / len(rounds) - self.caution * error, rounds)
        return state, state.scores.argmax(axis=1).astype(np.int32)

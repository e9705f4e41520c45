"""RW-FTPL: follow the leader of the noisy cumulative gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.play import Actions, LocalSetup, Observation, Origin
from dpol.privacy.guarantee import Model


@dataclass(frozen=True)
class RandomWalkFTPL:
    """RW-FTPL: x_t = argmax of z_0 plus the noisy gains of rounds before t.

    Regret at most (eta + 2/eta) sqrt(2 T log n) for gains in [0, 1] and constant
    noise scale eta. Privacy: post-processing of the noisy gains. Source: "Prediction
    with Expert Advice under Local Differential Privacy", section 3, after Devroye,
    Lugosi and Neu, "Prediction by random-walk perturbation".

    State: (R, n) noisy cumulative gains.

    >>> from dpol.experts.play import play
    >>> from dpol.noise.noisy_gains import NoisyGains
    >>> from dpol.privacy.guarantee import NO_PRIVACY
    >>> from dpol.core.randomness import replicate_generators
    >>> gains = np.array([[[0.0, 1.0], [1.0, 0.5], [1.0, 0.0]]])
    >>> noisy = NoisyGains(np.zeros((1, 2)), gains, np.zeros((3, 2)), 1.0, NO_PRIVACY)
    >>> play(RandomWalkFTPL(), noisy, replicate_generators(1, (), range(1), "play")).tolist()
    [[0, 1, 1]]
    """

    model: ClassVar[Model] = "local"
    origin: ClassVar[Origin] = "paper"

    def init(self, setup: LocalSetup) -> Floats:
        return setup.initial

    def step(
        self, state: Floats, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[Floats, Actions]:
        cumulative = state if observation is None else state + observation.gains
        return cumulative, cumulative.argmax(axis=1).astype(np.int32)

"""RW-FTPL: follow the leader of the noisy cumulative gains."""

from __future__ import annotations

from dataclasses import dataclass

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import Actions, LocalAlgorithm, LocalSetup, Observation
from dpol.experts.learners.leader import LeaderBank


@dataclass(frozen=True)
class RandomWalkFTPL(LocalAlgorithm[Floats]):
    """RW-FTPL: x_t = argmax of z_0 plus the noisy gains of rounds before t.

    The regret is at most (eta + 2/eta) sqrt(2 T log n) for gains in [0, 1] and constant
    noise scale eta. The actions are post-processing of the noisy gains. Source: "Prediction
    with Expert Advice under Local Differential Privacy", section 3, after Devroye,
    Lugosi and Neu, "Prediction by random-walk perturbation".

    The state is the (R, n) noisy cumulative gains.

    >>> import dpol
    >>> import numpy as np
    >>> gains, beds = np.array([[0.0, 1.0], [1.0, 0.5], [1.0, 0.0]]), np.full((3, 2), 50.0)
    >>> periods = np.datetime64("2021-01-01") + 7 * np.arange(3)
    >>> stream = dpol.GainStream(
    ...     label="example",
    ...     gains=gains,
    ...     capacity=beds,
    ...     entities=("a", "b"),
    ...     periods=periods,
    ... )
    >>> noisy = dpol.privatize(stream, "isotropic", np.inf, seed=1, replicates=1)
    >>> dpol.play(RandomWalkFTPL(), noisy).actions.tolist()
    [[0, 1, 1]]
    """

    origin = "paper"
    reads_noise = "chains"

    def init(self, setup: LocalSetup) -> Floats:
        return setup.initial

    def step(
        self, state: Floats, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[Floats, Actions]:
        cumulative, actions = LeaderBank().step(state, observation)
        return cumulative, actions[:, 0]

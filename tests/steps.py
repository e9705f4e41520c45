"""Steps shared by the tests of algorithms and of banks of learners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpol.core.randomness import Floats
from dpol.experts.interface import Actions, LearnerBank, LocalSetup, Observation
from dpol.experts.learners.state_space import StateSpaceModel
from dpol.experts.play import observations, setup_of
from dpol.noise import NoisyGains


def final_state(algorithm: Any, noisy: NoisyGains, *generators: Any) -> Any:
    """Return the state of an algorithm or a bank after all rounds."""
    state, observation = algorithm.init(setup_of(noisy)), None
    for revealed in observations(noisy):
        state, _ = algorithm.step(state, observation, *generators)
        observation = revealed
    return algorithm.step(state, observation, *generators)[0]


class FixedUniform:
    """Generators with given uniform numbers, one for each replicate."""

    def __init__(self, values: Sequence[float]) -> None:
        self.values = np.asarray(values)
        self.n_replicates = len(values)

    def uniform(self) -> Floats:
        return self.values


@dataclass(frozen=True)
class FixedBank(LearnerBank[tuple[int, int]]):
    """Learners that follow a schedule (T, m) whatever they see; the last row repeats."""

    schedule: Sequence[Sequence[int]]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"fixed-{i}" for i in range(len(self.schedule[0])))

    def init(self, setup: LocalSetup) -> tuple[int, int]:
        return 0, setup.n_replicates

    def step(
        self, state: tuple[int, int], observation: Observation | None
    ) -> tuple[tuple[int, int], Actions]:
        t, replicates = state
        row = self.schedule[min(t, len(self.schedule) - 1)]
        return (t + 1, replicates), np.tile(np.asarray(row, dtype=np.int32), (replicates, 1))


def simulated(
    models: Sequence[StateSpaceModel], rounds: int, draws: int, noise: float, seed: int
) -> Floats:
    """Simulate noisy deviations (R, T, n) of experts that follow one model each."""
    rng, n = np.random.default_rng(seed), len(models)
    names = "persistence", "process_variance", "transient_variance", "variance_before"
    numbers = np.array([[getattr(model, name) for model in models] for name in names])
    persistence, process, transient, start = numbers
    level = np.sqrt(start) * rng.standard_normal((draws, n))
    seen = np.empty((draws, rounds, n))
    for t in range(rounds):
        shocks = rng.standard_normal((3, draws, n))
        seen[:, t] = level + np.sqrt(transient) * shocks[0] + noise * shocks[1]
        level = persistence * level + np.sqrt(process) * shocks[2]
    return seen

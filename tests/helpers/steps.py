"""Helpers shared by the tests of algorithms and of banks of learners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpol.experts.interface import Actions, LearnerBank, LocalSetup, Observation
from dpol.experts.learners.typical_level import TypicalLevel, before_round_1
from dpol.experts.play import observations, setup_of
from dpol.noise import NoisyGains


def final_state(bank: Any, noisy: NoisyGains) -> Any:
    """Return the state of a bank after all rounds are observed."""
    state, observation = bank.init(setup_of(noisy)), None
    for revealed in observations(noisy):
        state, _ = bank.step(state, observation)
        observation = revealed
    return bank.step(state, observation)[0]


def typical_levels(noisy: NoisyGains) -> list[TypicalLevel]:
    """Return the typical level before and after each round of a game."""
    levels = [before_round_1(setup_of(noisy))]
    for seen in observations(noisy):
        levels.append(levels[-1].after(seen))
    return levels


@dataclass(frozen=True)
class FixedBank(LearnerBank[tuple[int, int]]):
    """Learners that follow a (T, m) schedule whatever they observe; its last row continues."""

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

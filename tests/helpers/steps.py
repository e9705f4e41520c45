"""Helpers shared by the tests of algorithms and of banks of learners."""

from __future__ import annotations

from typing import Any

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

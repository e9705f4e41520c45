"""Report noisy max of the last rounds, with fresh central noise every round."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpol.core.arguments import check_whole
from dpol.core.randomness import Floats
from dpol.experts.released_sums import ReleasedSums, SumsState
from dpol.privacy.matrix_mechanism import Factorization, fresh_window_sums


@dataclass(frozen=True)
class NoisyMax(ReleasedSums):
    """The leader of the last rounds, by sums with fresh noise in every round.

    A round enters `window` releases, so each release needs noise sqrt(window) Delta / mu. This is
    the baseline without correlated noise.

    Args:
        window: number of last rounds.

    Raises:
        ValueError: the window is empty.
    """

    window: int = 8

    def __post_init__(self) -> None:
        check_whole("window", self.window)

    def factorization(self, n_rounds: int) -> Factorization:
        return fresh_window_sums(n_rounds, self.window)

    def absorb(self, state: SumsState, gains: Floats) -> SumsState:
        kept = (*state.kept, gains)[-self.window :]
        return replace(state, kept=kept, sums=np.sum(kept, axis=0))

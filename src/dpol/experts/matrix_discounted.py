"""Follow the leader of decayed sums that a matrix factorisation releases."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpol.core.arguments import check_number
from dpol.core.randomness import Floats
from dpol.experts.released_sums import ReleasedSums, SumsState
from dpol.privacy.factorizations import Factorization, decayed_sums


@dataclass(frozen=True)
class MatrixDiscounted(ReleasedSums):
    """The leader of factorised sums in which every round counts `decay` times the next.

    Source of the factorisation: Henzinger, Kalinin and Upadhyay (2025).

    Args:
        decay: beta, weight of a round relative to the next, in (0, 1).

    Raises:
        ValueError: decay is out of range.
    """

    decay: float = 0.9

    def __post_init__(self) -> None:
        check_number("decay", self.decay, "(0, 1)", "; see mf-ftpl for 1")

    def factorization(self, n_rounds: int) -> Factorization:
        return decayed_sums(n_rounds, self.decay)

    def absorb(self, state: SumsState, gains: Floats) -> SumsState:
        return replace(state, sums=self.decay * state.sums + gains)

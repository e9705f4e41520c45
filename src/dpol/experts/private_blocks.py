"""Pure-DP rivals for stochastic losses: one expert per block, with blocks of doubling length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from dpol.core.arguments import check_choice
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import Actions, CentralAlgorithm, CuratorSetup, Observation
from dpol.privacy.gaussian_dp import implied_mu, pure_epsilon
from dpol.privacy.guarantee import Guarantee, Origin

Prefix = Literal["random", "whole"]
"""How much of a block a draw sees."""


@dataclass(frozen=True, kw_only=True)
class BlocksState:
    """State that private blocks carry from round to round.

    Args:
        scale: scale of the Gumbel noise.
        rounds: number of rounds so far.
        played: (R,) expert of the current block.
        prefix: (R,) number of rounds at the start of the block that count.
        sums: (R, n) sums of the gains of these rounds so far.
    """

    scale: float
    rounds: int
    played: Actions
    prefix: Floats
    sums: Floats


@dataclass(frozen=True)
class PrivateBlocks(CentralAlgorithm[BlocksState]):
    """Keep an expert for a block of rounds; draw the next by the exponential mechanism.

    Blocks have 1, 2, 4, ... rounds. The draw sees the gains of the last block, or of a prefix whose
    length is uniform on the upper half of the block's lengths and drawn before the block. So each
    length of a prefix is drawn in one block only. A round enters at most one draw, and each
    draw is epsilon-DP, so all actions together are. epsilon is the largest that implies mu-GDP. The
    losses must be independent draws from one distribution; there is no promise for others.

    Args:
        prefix: `random`, our reading of the abstract of Cesari and Colomboni, "Optimal
            Gap-Dependent Regret for Private Stochastic Decision-Theoretic Online Learning" (arXiv
            2605.29148), which turns "block regret into a sum over all prefix lengths"; or `whole`,
            by "Private Online Prediction from Experts", Algorithm 2 (limited updates).

    Raises:
        ValueError: `prefix` is neither.
    """

    origin: ClassVar[Origin] = "standard"
    scales_noise: ClassVar[bool] = False

    prefix: Prefix = "random"

    def __post_init__(self) -> None:
        check_choice("prefix", self.prefix, MECHANISMS)

    def init(self, setup: CuratorSetup) -> BlocksState:
        # A person moves the difference of two experts' sums by at most twice this much.
        moved = setup.stay * min(setup.largest_change, setup.gain_range)
        return BlocksState(
            scale=2 * moved / pure_epsilon(setup.mu),
            rounds=0,
            played=np.zeros(setup.n_replicates, dtype=np.int32),
            prefix=np.zeros(setup.n_replicates),
            sums=np.zeros((setup.n_replicates, setup.n_experts)),
        )

    def step(
        self, state: BlocksState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[BlocksState, Actions]:
        rounds, sums = state.rounds, state.sums
        if observation is not None:
            rounds += 1
            place = rounds - (1 << (rounds.bit_length() - 1))  # in its block, from 0
            sums = sums + np.where(place < state.prefix, 1.0, 0.0)[:, None] * observation.gains
        state = replace(state, rounds=rounds, sums=sums)
        if rounds & (rounds + 1):
            return state, state.played
        noise, prefix = _block_draws(generators, sums.shape[1], rounds + 1, self.prefix)
        played = (sums + state.scale * noise).argmax(axis=1).astype(np.int32)
        return replace(state, played=played, prefix=prefix, sums=np.zeros_like(sums)), played

    def guarantee(self, setup: CuratorSetup) -> Guarantee:
        """Return the mu-GDP guarantee of the actions, which their pure epsilon implies."""
        epsilon = pure_epsilon(setup.mu)
        return Guarantee(
            mechanism=MECHANISMS[self.prefix],
            **setup.neighbours.as_fields(lambda v: implied_mu(epsilon * v / setup.stay)),
            sensitivity=setup.largest_change,
            sensitivity_unit="L-infinity, gain",
            mu=setup.mu,
            model="central",
        )


MECHANISMS: Mapping[Prefix, str] = {
    "random": "exponential mechanism on prefixes of doubling blocks",
    "whole": "exponential mechanism on doubling blocks",
}
"""Name of the mechanism in privacy records, by prefix."""


def _block_draws(
    generators: ReplicateGenerators, n: int, length: int, prefix: Prefix
) -> tuple[Floats, Floats]:
    """Draw the (R, n) Gumbel noise and the (R,) prefixes of a block.

    Taking the largest sum after adding scaled Gumbel noise is the exponential mechanism. Random
    prefixes are uniform on the upper half of 1, ..., `length`.
    """
    uniforms = generators.uniforms(n + 1)
    lengths = np.full(len(uniforms), float(length))
    if prefix == "random":
        half = length // 2
        lengths = 1 + half + np.floor((length - half) * uniforms[:, n])
    return -np.log(-np.log1p(-uniforms[:, :n])), lengths

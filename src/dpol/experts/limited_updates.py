"""Pure DP on stochastic losses: one expert per block, with blocks of doubling length."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import Actions, CentralAlgorithm, CuratorSetup, Observation
from dpol.privacy.guarantee import Guarantee
from dpol.privacy.losses import of_range, range_for


@dataclass(frozen=True, kw_only=True)
class BlocksState:
    """State that limited updates carry from round to round.

    Args:
        scale: scale of the Gumbel noise.
        rounds: number of rounds so far.
        played: (R,) expert of the current block.
        sums: (R, n) sums of the gains of the current block so far.
    """

    scale: float
    rounds: int = 0
    played: Actions
    sums: Floats


@dataclass(frozen=True)
class LimitedUpdates(CentralAlgorithm[BlocksState]):
    """Keep an expert for a block of rounds; draw the next by the exponential mechanism.

    Blocks have 1, 2, 4, ... rounds, and a draw sees the gains of the last block. So a round enters
    at most one draw, and ranges of the log ratios of draws add up. The losses must be independent
    draws from one distribution; there is no promise for others. Source: "Private Online Prediction
    from Experts", Algorithm 2; the accounting by range is that of `of_range`.
    """

    origin = "standard"
    scales_noise = False
    mechanism = "exponential mechanism on doubling blocks"

    def init(self, setup: CuratorSetup) -> BlocksState:
        # A person moves the difference of two experts' sums by at most twice this much.
        moved = setup.stay * min(setup.largest_change, setup.gain_range)
        return BlocksState(
            scale=2 * moved / range_for(setup.mu),
            played=np.zeros(setup.n_replicates, dtype=np.int32),
            sums=np.zeros((setup.n_replicates, setup.n_experts)),
        )

    def step(
        self, state: BlocksState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[BlocksState, Actions]:
        rounds, sums = state.rounds, state.sums
        if observation is not None:
            rounds, sums = rounds + 1, sums + observation.gains
        state = replace(state, rounds=rounds, sums=sums)
        if rounds & (rounds + 1):
            return state, state.played
        noisy = sums + state.scale * gumbel_noise(generators, sums.shape[1])
        played = noisy.argmax(axis=1).astype(np.int32)
        return replace(state, played=played, sums=np.zeros_like(sums)), played

    def guarantee(self, setup: CuratorSetup) -> Guarantee:
        """Return the guarantee of the actions, by the range of the log ratios of their draws."""
        eta = range_for(setup.mu) / setup.stay
        return Guarantee(
            mechanism=self.mechanism,
            **setup.neighbours.as_fields(lambda v: of_range(eta * v)),
            sensitivity=setup.largest_change,
            sensitivity_unit="L-infinity, gain",
            loss=of_range(eta * setup.stay),
            model="central",
        )


def gumbel_noise(generators: ReplicateGenerators, n: int) -> Floats:
    """Draw the (R, n) Gumbel noise of a block.

    Taking the largest sum after adding scaled Gumbel noise is the exponential mechanism. One more
    uniform number is drawn than used, which keeps the recorded games.
    """
    uniforms = generators.uniforms(n + 1)[:, :n]
    return np.asarray(-np.log(-np.log1p(-uniforms)))

"""Follow the leader of prefix sums released by the binary-tree mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from dpol.experts.play import Actions, CuratorSetup, Observation, Origin
from dpol.privacy.guarantee import ONE_PERSON, UNIT, Guarantee, Model
from dpol.randomness import Floats, ReplicateGenerators


@dataclass(frozen=True)
class TreeState:
    """Raw prefix sums and the noise of the tree's open nodes.

    Args:
        prefix: (R, n) sum of the gains of the rounds so far.
        rounds: number of rounds so far; its binary digits are the open nodes.
        nodes: (R, n) noise of each open node, by level.
        total_scale: standard deviation S of the noise on every prefix.
        node_scale: standard deviation of one node's noise.
    """

    prefix: Floats
    rounds: int
    nodes: dict[int, Floats]
    total_scale: float
    node_scale: float


@dataclass(frozen=True)
class TreeFTPL:
    """The FTPL of Agarwal and Singh (2017) in the central model, with Gaussian nodes.

    With L = floor(log2(T - 1)) + 1 levels, every round enters at most L nodes, so node
    noise N(0, (Delta sqrt(L) / mu)^2) is mu-GDP. Prefixes that need fewer than L nodes are
    padded with fresh noise: every prefix carries noise of the same scale S. Cited and
    compared in "Prediction with Expert Advice under Local Differential Privacy", section 4.

    Args:
        objective: `min-noise` takes S = Delta L / mu, the least that mu allows;
            `min-regret` takes S = max(Delta L / mu, r sqrt(T)), which minimises the
            worst-case regret bound sqrt(2 log n) (S + r^2 T / S).
    """

    objective: Literal["min-noise", "min-regret"] = "min-noise"

    model: ClassVar[Model] = "central"
    origin: ClassVar[Origin] = "paper"

    def __post_init__(self) -> None:
        if self.objective not in ("min-noise", "min-regret"):
            raise ValueError(f"objective must be min-noise or min-regret, got {self.objective!r}")

    def init(self, setup: CuratorSetup) -> TreeState:
        levels = tree_levels(setup.n_rounds)
        total = self._total_scale(setup)
        return TreeState(
            prefix=np.zeros((setup.n_replicates, setup.n_experts)),
            rounds=0,
            nodes={},
            total_scale=total,
            node_scale=total / math.sqrt(levels) if levels else 0.0,
        )

    def step(
        self, state: TreeState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[TreeState, Actions]:
        if observation is not None:
            state = _absorb(state, observation.gains, generators)
        fresh = math.sqrt(max(state.total_scale**2 - len(state.nodes) * state.node_scale**2, 0.0))
        noisy = state.prefix + fresh * generators.standard_normal(state.prefix.shape[1])
        for noise in state.nodes.values():
            noisy += noise
        return state, noisy.argmax(axis=1).astype(np.int32)

    def guarantee(self, setup: CuratorSetup) -> Guarantee:
        """Gaussian DP of the noisy prefix sums, and of the actions made from them."""
        return Guarantee(
            mechanism="Gaussian noise on tree-aggregated prefix sums",
            adjacency=ONE_PERSON,
            unit=UNIT,
            sensitivity=setup.sensitivity,
            sensitivity_unit="L2, gain",
            mu=self.achieved_mu(setup),
            model="central",
            sampler="seeded",
        )

    def achieved_mu(self, setup: CuratorSetup) -> float:
        """Delta L / S; 0 for T = 1, where no gain is ever used."""
        shift = setup.sensitivity * tree_levels(setup.n_rounds)
        if shift == 0:
            return 0.0
        scale = self._total_scale(setup)
        return shift / scale if scale else math.inf

    def _total_scale(self, setup: CuratorSetup) -> float:
        scale = setup.sensitivity * tree_levels(setup.n_rounds) / setup.mu
        if self.objective == "min-regret":
            scale = max(scale, setup.gain_range * math.sqrt(setup.n_rounds))
        return scale


def tree_levels(n_rounds: int) -> int:
    """L: the most nodes of the tree over rounds 1..T-1 that one round enters; 0 for T = 1."""
    return (n_rounds - 1).bit_length()


def _absorb(state: TreeState, gains: Floats, generators: ReplicateGenerators) -> TreeState:
    """Add one round: it closes a node at the level of the lowest binary digit 1 of the count."""
    rounds = state.rounds + 1
    level = (rounds & -rounds).bit_length() - 1
    nodes = {other: noise for other, noise in state.nodes.items() if other > level}
    nodes[level] = state.node_scale * generators.standard_normal(gains.shape[1])
    return TreeState(state.prefix + gains, rounds, nodes, state.total_scale, state.node_scale)

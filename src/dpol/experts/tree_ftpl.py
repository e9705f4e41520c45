"""Follow the leader of prefix sums that the binary-tree mechanism releases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import Actions, CentralAlgorithm, CuratorSetup, Observation
from dpol.privacy.gaussian_dp import mu_of_shifts
from dpol.privacy.guarantee import Guarantee
from dpol.privacy.tree_noise import next_nodes, tree_levels, tree_total


@dataclass(frozen=True, kw_only=True)
class TreeState:
    """Raw prefix sums and the noise of the tree's open nodes.

    Args:
        prefix: (R, n) sum of the gains of the rounds so far.
        nodes: (R, n) noise of each open node, by level.
        total_scale: standard deviation S of the noise on every prefix of the noisiest expert.
        node_scale: standard deviation of the noise on one node of the noisiest expert.
        relative: (n,) noise of each expert relative to the noisiest; 1 if all have the same.
    """

    prefix: Floats
    nodes: Mapping[int, Floats]
    total_scale: float
    node_scale: float
    relative: float | Floats = 1.0


@dataclass(frozen=True)
class TreeFTPL(CentralAlgorithm[TreeState]):
    """The FTPL of Agarwal and Singh (2017) in the central model, with Gaussian nodes.

    With L = floor(log2(T - 1)) + 1 levels, every round enters at most L nodes, so node
    noise N(0, (Delta sqrt(L) / mu)^2) is mu-GDP. Prefixes that need fewer than L nodes are
    padded with fresh noise, so every prefix has noise of the same scale S. Cited and
    compared in "Prediction with Expert Advice under Local Differential Privacy", section 4.

    The isotropic noise gives every expert the same S (the paper). The capacity noise (not
    in the paper) replaces Delta / sqrt(2) by d_i, the change that one person can make. A
    person who moves from i to j shifts each of at most L nodes by d_i and d_j; with node noise
    sqrt(2 L) d_i / mu this also gives sqrt(L (1 + 1) / (2 L)) mu = mu.

    Args:
        objective: `min-noise` takes S = Delta L / mu, the smallest that mu allows;
            `min-regret` takes S = max(Delta L / mu, r sqrt(T)), which minimises the
            worst-case regret bound sqrt(2 log n) (S + r^2 T / S).

    Raises:
        ValueError: the objective is unknown.

    >>> import dpol
    >>> periods = np.datetime64("2021-01-01") + 7 * np.arange(20)
    >>> beds = np.full((20, 2), 50.0)
    >>> stream = dpol.GainStream(
    ...     label="example",
    ...     gains=np.full((20, 2), 0.2),
    ...     capacity=beds,
    ...     entities=("a", "b"),
    ...     periods=periods,
    ... )
    >>> games = dpol.play(TreeFTPL(), dpol.RawGains(stream, mu=0.5, replicates=4, seed=1))
    >>> games.actions.shape, round(games.guarantee.mu, 6), games.guarantee.model
    ((4, 20), 0.5, 'central')
    """

    objective: Literal["min-noise", "min-regret"] = "min-noise"
    origin = "paper"

    def __post_init__(self) -> None:
        if self.objective not in ("min-noise", "min-regret"):
            raise ValueError(f"objective must be min-noise or min-regret, got {self.objective!r}")

    def init(self, setup: CuratorSetup) -> TreeState:
        levels = tree_levels(setup.n_rounds)
        scale = self._total_scale(setup)
        total = float(np.max(scale))
        return TreeState(
            prefix=np.zeros((setup.n_replicates, setup.n_experts)),
            nodes={},
            total_scale=total,
            node_scale=total / math.sqrt(levels) if levels else 0.0,
            relative=scale / total if total and setup.by_capacity else 1.0,
        )

    def step(
        self, state: TreeState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[TreeState, Actions]:
        n = state.prefix.shape[1]
        if observation is not None:  # the round opens a node
            opened = state.relative * state.node_scale * generators.standard_normal(n)
            nodes = next_nodes(state.nodes, opened)
            state = replace(state, prefix=state.prefix + observation.gains, nodes=nodes)
        told = len(state.nodes) * state.node_scale**2
        fresh = math.sqrt(max(state.total_scale**2 - told, 0.0))
        noisy = state.prefix + state.relative * fresh * generators.standard_normal(n)
        for node in state.nodes.values():
            noisy += node
        return state, noisy.argmax(axis=1).astype(np.int32)

    def guarantee(self, setup: CuratorSetup) -> Guarantee:
        """Return the Gaussian-DP guarantee of the noisy prefix sums and of the actions."""
        name = "Gaussian noise on tree-aggregated prefix sums"
        mu_of_rounds = partial(self.achieved_mu, setup)
        return setup.guarantee(name, self.achieved_mu(setup), mu_of_rounds)

    def achieved_mu(self, setup: CuratorSetup, stay: int | None = None) -> float:
        """Return the achieved mu, Delta L / S; 0 for T = 1, where no gain is ever used.

        With the capacity noise, mu is L sqrt((d_i / S_i)^2 + (d_j / S_j)^2) for the two experts
        with the largest value. For stays of w rounds, sqrt(L) N_w replaces L.

        Args:
            setup: setup that fixes the noise.
            stay: number of rounds that count a person, in a row or not; None for the unit's stay.
        """
        total = tree_total(setup.n_rounds, setup.stay if stay is None else stay)
        if total == 0:
            return 0.0
        scale = self._total_scale(setup)
        with np.errstate(divide="ignore"):
            if not setup.by_capacity:
                return float(np.divide(setup.sensitivity * total, scale))
            return mu_of_shifts(_changes(setup) * total / scale)

    def _total_scale(self, setup: CuratorSetup) -> float | Floats:
        total = tree_total(setup.n_rounds, setup.stay)
        scale: float | Floats = setup.sensitivity * total / setup.mu
        if setup.by_capacity:
            scale = math.sqrt(2.0) * _changes(setup) * total / setup.mu
        if self.objective == "min-regret":
            scale = np.maximum(scale, setup.gain_range * math.sqrt(setup.n_rounds))
        return scale


def _changes(setup: CuratorSetup) -> Floats:
    """Return how far one person can move each expert's gain in any round, (n,)."""
    assert setup.changes is not None, "by_capacity refuses it"
    return np.asarray(setup.changes.max(axis=0))

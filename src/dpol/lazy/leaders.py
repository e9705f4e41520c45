"""Rivals of L2P on synthetic losses: followers of the noisy leader, and private blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import CuratorSetup, Observation
from dpol.experts.private_blocks import Prefix, PrivateBlocks
from dpol.lazy.adversaries import ExpertLosses
from dpol.privacy.factorizations import prefix_sums_times
from dpol.privacy.gaussian_dp import implied_mu
from dpol.privacy.tree_noise import TreeNoise, tree_levels


def play_leaders(
    algorithm: str, games: Sequence[tuple[ExpertLosses, float]], generators: ReplicateGenerators
) -> list[tuple[Floats, Floats]]:
    """Return the (R,) total losses and (R,) switches of each game; L2 sensitivity sqrt(d) a round.

    Each replicate draws its noise once; every game adds it, scaled to the game's mu.

    Args:
        algorithm: name in `LEADERS`.
        games: losses in [0, 1] and mu of each game; all have the same rounds and experts.
        generators: one for each replicate.
    """
    T, d = games[0][0].n_rounds, games[0][0].n_experts
    sums = {losses: _rounds_and_prefixes(losses) for losses, _ in games}
    actions = np.empty((len(games), generators.n_replicates, T), dtype=int)
    _, draw = LEADERS[algorithm]
    for r, generator in enumerate(generators.generators):
        noise = draw(T, d, generator)
        for chosen, (losses, mu) in zip(actions, games, strict=True):
            chosen[r] = (sums[losses][1] + math.sqrt(d) / mu * noise).argmin(axis=1)
    outcomes = []
    for (losses, _), chosen in zip(games, actions, strict=True):
        total = sums[losses][0][np.arange(T), chosen].sum(axis=1)
        outcomes.append((total, np.count_nonzero(np.diff(chosen), axis=1).astype(float)))
    return outcomes


def tree_noise(T: int, d: int, generator: np.random.Generator) -> Floats:
    """Return (T, d) noise on the sums before each round, by the least-noise tree at mu = 1.

    Every prefix gets the noise of as many nodes as the prefix with the most.
    """
    levels, tree, noise = tree_levels(T), TreeNoise(), np.empty((T, d))
    for before in noise:
        missing = math.sqrt(levels - len(tree.nodes))
        before[:] = missing * generator.standard_normal(d) + tree.total()
        tree = tree.next(generator.standard_normal(d))
    return np.asarray(math.sqrt(levels) * noise)


def matrix_noise(T: int, d: int, generator: np.random.Generator) -> Floats:
    """Return (T, d) noise on the sums before each round, by factorised prefix sums at mu = 1.

    There is no noise before round 1; expert 0 is chosen there.
    """
    after = prefix_sums_times(generator.standard_normal((T, d)))
    return np.concatenate([np.zeros((1, d)), after[:-1]])


LEADERS: Mapping[str, tuple[str, Callable[[int, int, np.random.Generator], Floats]]] = {
    "tree-ftpl-min-noise": ("Gaussian noise on tree-aggregated prefix sums", tree_noise),
    "mf-ftpl": ("Gaussian noise on factorised sums (normalised square root)", matrix_noise),
}
"""Privacy mechanism and noise of each noisy leader, by the registered name of the algorithm."""


def play_blocks(
    losses: ExpertLosses, epsilon: float, generators: ReplicateGenerators, prefix: Prefix
) -> tuple[Floats, Floats]:
    """Return the (R,) total losses and (R,) switches of private blocks on gains 1 - loss.

    Args:
        losses: losses in [0, 1].
        epsilon: pure epsilon of the actions, for a change of all losses of one round.
        generators: one for each replicate.
        prefix: how much of a block a draw sees.
    """
    R, d = generators.n_replicates, losses.n_experts
    setup = CuratorSetup(
        n_replicates=R,
        n_rounds=losses.n_rounds,
        n_experts=d,
        gain_range=1.0,
        sensitivity=math.sqrt(d),
        largest_change=1.0,
        mu=implied_mu(epsilon),
    )
    algorithm = PrivateBlocks(prefix)
    state, played = algorithm.step(algorithm.init(setup), None, generators)
    total, switches = np.zeros(R), np.zeros(R)
    seen: Observation | None = None
    for (loss,) in losses.batches(1):
        if seen is not None:
            before = played
            state, played = algorithm.step(state, seen, generators)
            switches += played != before
        total += loss[played]
        seen = Observation(np.broadcast_to(1 - loss, (R, d)), np.zeros(d))
    return total, switches


def _rounds_and_prefixes(losses: ExpertLosses) -> tuple[Floats, Floats]:
    """Return the (T, d) losses of all rounds and their (T, d) sums before each round."""
    (every,) = losses.batches(losses.n_rounds)
    before = np.zeros_like(every)
    before[1:] = every[:-1].cumsum(axis=0)
    return every, before

"""Rivals of L2P on synthetic losses: followers of the noisy leader, and private blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.private_blocks import Prefix, block_draws
from dpol.lazy.adversaries import ExpertLosses
from dpol.privacy.factorizations import prefix_sums_times
from dpol.privacy.tree_noise import TreeNoise, tree_levels


def play_leaders(
    algorithm: str, games: Sequence[tuple[ExpertLosses, float]], generators: ReplicateGenerators
) -> list[tuple[Floats, Floats]]:
    """Return the (R,) total losses and (R,) switches of each game; L2 sensitivity sqrt(d) a round.

    Each replicate draws its noise once; every game adds it, scaled to the game's mu.

    Args:
        algorithm: name in `NOISES`.
        games: losses in [0, 1] and mu of each game; all have the same rounds and experts.
        generators: one for each replicate.
    """
    T, d = games[0][0].n_rounds, games[0][0].n_experts
    sums = {losses: _rounds_and_prefixes(losses) for losses, _ in games}
    actions = np.empty((len(games), generators.n_replicates, T), dtype=int)
    for r, generator in enumerate(generators.generators):
        noise = NOISES[algorithm](T, d, generator)
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


NOISES: Mapping[str, Callable[[int, int, np.random.Generator], Floats]] = {
    "tree-ftpl-min-noise": tree_noise,
    "mf-ftpl": matrix_noise,
}
"""Noise of each noisy leader, by the registered name of the algorithm."""


def play_blocks(
    losses: ExpertLosses, games: Sequence[tuple[float, ReplicateGenerators]], prefix: Prefix
) -> list[tuple[Floats, Floats]]:
    """Return the (R,) total losses and (R,) switches of private blocks, for each game.

    They are what `dpol.experts.private_blocks` plays on gains 1 - loss, from the same random
    numbers. Each of `games` is an epsilon with its generators. All draws come before any loss, so
    only the sums at a few rounds are kept.
    """
    T, d = losses.n_rounds, losses.n_experts
    edges = np.array([*(2**k - 1 for k in range(T.bit_length())), T])
    drawn = [
        [block_draws(generators, d, length, prefix) for length in (edges[:-1] + 1).tolist()]
        for _, generators in games
    ]
    ends = [edges[:-1, None] + np.array([prefix for _, prefix in draws], int) for draws in drawn]
    rounds = np.unique(np.concatenate([edges, *(ending[:-1].ravel() for ending in ends)]))
    sums = _sums_before(losses, rounds)
    outcomes = []
    for (epsilon, _), draws, ending in zip(games, drawn, ends, strict=True):
        chosen, seen = [], np.zeros((1, d))
        for k, (noise, _) in enumerate(draws):
            chosen.append((2 / epsilon * noise - seen).argmax(axis=1))
            if k < len(draws) - 1:
                seen = sums[rounds.searchsorted(ending[k])] - sums[rounds.searchsorted(edges[k])]
        actions = np.array(chosen)
        of_blocks = np.diff(sums[rounds.searchsorted(edges)], axis=0)
        total = np.take_along_axis(of_blocks, actions, axis=1).sum(axis=0)
        outcomes.append((total, np.count_nonzero(np.diff(actions, axis=0), axis=0).astype(float)))
    return outcomes


def _sums_before(losses: ExpertLosses, rounds: NDArray[np.int64]) -> Floats:
    """Return the (k, d) total losses of the first rounds, for k rising numbers of rounds."""
    totals, first, prefix = [], 0, np.zeros((1, losses.n_experts))
    for block in losses.batches(max(1, 2_000_000 // losses.n_experts)):
        prefix = np.concatenate([prefix[-1:], block]).cumsum(axis=0)
        inside = (rounds >= first + bool(first)) & (rounds <= first + len(block))
        totals.append(prefix[rounds[inside] - first])
        first += len(block)
    return np.concatenate(totals)


def _rounds_and_prefixes(losses: ExpertLosses) -> tuple[Floats, Floats]:
    """Return the (T, d) losses of all rounds and their (T, d) sums before each round."""
    (every,) = losses.batches(losses.n_rounds)
    before = np.zeros_like(every)
    before[1:] = every[:-1].cumsum(axis=0)
    return every, before

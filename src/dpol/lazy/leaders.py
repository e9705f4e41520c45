"""Algorithms beside L2P on synthetic losses: followers of the noisy leader, and limited updates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dpol.core.arguments import check_mu, check_number
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.limited_updates import gumbel_noise
from dpol.lazy.stochastic_losses import PairedLosses
from dpol.privacy.matrix_mechanism import prefix_sums_times
from dpol.privacy.tree_noise import tree_levels


def play_leaders(
    algorithm: str, games: Sequence[tuple[PairedLosses, float]], generators: ReplicateGenerators
) -> list[tuple[Floats, Floats]]:
    """Return the (R,) total losses and (R,) switches in each game; L2 sensitivity sqrt(d) a round.

    Each replicate draws its noise once; every game adds it, scaled to its mu. The noise and the
    sums of one replicate must fit into memory.

    Args:
        algorithm: name in `NOISY_LEADERS`.
        games: losses of each replicate, and mu, of games with the same rounds and experts.
        generators: one for each replicate.
    """
    T, d = games[0][0].sequences[0].n_rounds, games[0][0].sequences[0].n_experts
    total, switches = np.empty((2, len(games), generators.n_replicates))
    _, draw = NOISY_LEADERS[algorithm]
    scales = [math.sqrt(d) / check_mu(mu) for _, mu in games]
    for r, generator in enumerate(generators.generators):
        noise = draw(T, d, generator)
        sums_of = {losses: losses.of(r) for losses in {losses for losses, _ in games}}
        for g, (losses, _) in enumerate(games):
            sums = sums_of[losses]
            chosen = (sums[:-1] + scales[g] * noise).argmin(axis=1)
            at = np.arange(T), chosen
            total[g, r] = (sums[1:][at] - sums[:-1][at]).sum()
            switches[g, r] = np.count_nonzero(np.diff(chosen))
    return list(zip(total, switches, strict=True))


def tree_noise(T: int, d: int, generator: np.random.Generator) -> Floats:
    """Return (T, d) noise on the sums before each round, by the tree of smallest noise at mu = 1.

    Every prefix gets the noise of as many nodes as the prefix with the most.
    """
    levels, total = tree_levels(T), np.zeros((T, d))
    missing, opened = generator.standard_normal((T, 2, d)).transpose(1, 0, 2)
    # The nodes of the first t rounds are those without the lowest digit of t, and one more.
    for length in (1 << level for level in reversed(range(levels))):
        last = opened[length - 1 : T - 1 : 2 * length]
        total[length :: 2 * length] = total[:: 2 * length][: len(last)] + last
    nodes = np.array([t.bit_count() for t in range(T)])
    return np.asarray(math.sqrt(levels) * (np.sqrt(levels - nodes)[:, None] * missing + total))


def matrix_noise(T: int, d: int, generator: np.random.Generator) -> Floats:
    """Return (T, d) noise on the sums before each round, by factorised prefix sums at mu = 1.

    There is no noise before round 1; expert 0 is chosen there.
    """
    after = prefix_sums_times(generator.standard_normal((T, d)))
    return np.concatenate([np.zeros((1, d)), after[:-1]])


NOISY_LEADERS: Mapping[str, tuple[str, Callable[[int, int, np.random.Generator], Floats]]] = {
    "tree-ftpl-min-noise": ("Gaussian noise on tree-aggregated prefix sums", tree_noise),
    "mf-ftpl": ("Gaussian noise on factorised sums (normalised square root)", matrix_noise),
}
"""Privacy mechanism and noise of each noisy leader, by the registered name of the algorithm."""


def doubling_edges(n_rounds: int) -> list[int]:
    """Return the edges of the blocks of limited updates, of 1, 2, 4, ... rounds.

    >>> doubling_edges(10)
    [0, 1, 3, 7, 10]
    """
    return [*(2**k - 1 for k in range(n_rounds.bit_length())), n_rounds]


def play_blocks(
    blocks: Iterable[Floats], epsilon: float, generators: ReplicateGenerators
) -> tuple[Floats, Floats]:
    """Return the (R,) total losses and (R,) switches of limited updates, by the sums of blocks.

    They play as `dpol.experts.limited_updates:LimitedUpdates` does round by round.

    Args:
        blocks: (R, d) losses of each replicate between `doubling_edges`.
        epsilon: pure epsilon of the actions, for a change of all losses of one round.
        generators: one for each replicate.
    """
    scale = 2 / check_number("epsilon", epsilon, "(0, inf]")
    last: Any = 0.0
    chosen, total = [], np.zeros(generators.n_replicates)
    for block in blocks:
        noise = gumbel_noise(generators, block.shape[1])
        chosen.append((scale * noise - last).argmax(axis=1))
        total += block[np.arange(len(block)), chosen[-1]]
        last = block
    return total, np.count_nonzero(np.diff(chosen, axis=0), axis=0).astype(float)

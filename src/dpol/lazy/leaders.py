"""Rivals of L2P on synthetic losses: followers of the noisy leader, and limited updates."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dpol.core.arguments import check_mu, check_number
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import CuratorSetup, Observation
from dpol.experts.limited_updates import LimitedUpdates
from dpol.lazy.stochastic_losses import PairedLosses, Stretch
from dpol.privacy.factorizations import prefix_sums_times
from dpol.privacy.gaussian_dp import implied_mu
from dpol.privacy.tree_noise import tree_levels


def play_leaders(
    algorithm: str, games: Sequence[tuple[PairedLosses, float]], generators: ReplicateGenerators
) -> list[tuple[Floats, Floats]]:
    """Return the (R,) total losses and (R,) switches in each game; L2 sensitivity sqrt(d) a round.

    Each replicate draws its noise once; every game adds it, scaled to its mu.

    Args:
        algorithm: name in `NOISY_LEADERS`.
        games: losses of each replicate, and mu, of games with the same rounds and experts.
        generators: one for each replicate.
    """
    T, d = games[0][0].sequences[0].n_rounds, games[0][0].sequences[0].n_experts
    total, switches = np.empty((2, len(games), generators.n_replicates))
    _, draw = NOISY_LEADERS[algorithm]
    for r, generator in enumerate(generators.generators):
        noise = draw(T, d, generator)
        for g, (losses, mu) in enumerate(games):
            (sums,) = losses.parts()
            chosen = (sums[r, :-1] + math.sqrt(d) / check_mu(mu) * noise).argmin(axis=1)
            at = np.arange(T), chosen
            total[g, r] = (sums[r, 1:][at] - sums[r, :-1][at]).sum()
            switches[g, r] = np.count_nonzero(np.diff(chosen))
    return list(zip(total, switches, strict=True))


def tree_noise(T: int, d: int, generator: np.random.Generator) -> Floats:
    """Return (T, d) noise on the sums before each round, by the least-noise tree at mu = 1.

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
    blocks: Sequence[Stretch], epsilon: float, generators: ReplicateGenerators
) -> tuple[Floats, Floats]:
    """Return the (R,) total losses and (R,) switches of limited updates on gains 1 - loss.

    Args:
        blocks: losses of each replicate between `doubling_edges`.
        epsilon: pure epsilon of the actions, for a change of all losses of one round.
        generators: one for each replicate.
    """
    R, d = blocks[0].before.shape
    setup = CuratorSetup(
        n_replicates=R,
        n_rounds=2 ** len(blocks) - 1,
        n_experts=d,
        gain_range=1.0,
        sensitivity=math.sqrt(d),
        largest_change=1.0,
        mu=implied_mu(check_number("epsilon", epsilon, "(0, inf]")),
    )
    algorithm = LimitedUpdates()
    state, played = algorithm.step(algorithm.init(setup), None, generators)
    total, switches = blocks[0].of(played), np.zeros(R)
    for last, block in itertools.pairwise(blocks):
        before, rounds = played, 2 * state.rounds + 1
        # A block counts as one round: the next draw depends on its sums only.
        seen = Observation(rounds - state.rounds - last.losses, np.zeros(d))
        state, played = algorithm.step(replace(state, rounds=rounds - 1), seen, generators)
        total += block.of(played)
        switches += played != before
    return total, switches

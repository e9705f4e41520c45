"""Rivals of L2P on synthetic losses: followers of the noisy leader, and limited updates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dpol.core.arguments import check_mu, check_number
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import CuratorSetup, Observation
from dpol.experts.limited_updates import LimitedUpdates
from dpol.lazy.stochastic_losses import PairedLosses
from dpol.privacy.factorizations import prefix_sums_times
from dpol.privacy.gaussian_dp import implied_mu
from dpol.privacy.tree_noise import TreeNoise, tree_levels


def play_leaders(
    algorithm: str, losses: PairedLosses, mus: Sequence[float], generators: ReplicateGenerators
) -> list[tuple[Floats, Floats]]:
    """Return the (R,) total losses and (R,) switches at each mu; L2 sensitivity sqrt(d) a round.

    Each replicate draws its noise once; every game adds it, scaled to its mu.

    Args:
        algorithm: name in `NOISY_LEADERS`.
        losses: losses of each replicate.
        mus: mu of each game.
        generators: one for each replicate.
    """
    T, d = losses.sequences[0].n_rounds, losses.sequences[0].n_experts
    total, switches = np.empty((2, len(mus), generators.n_replicates))
    (sums,) = losses.parts(T)
    _, draw = NOISY_LEADERS[algorithm]
    for r, generator in enumerate(generators.generators):
        noise = draw(T, d, generator)
        for g, mu in enumerate(mus):
            chosen = (sums[r, :-1] + math.sqrt(d) / check_mu(mu) * noise).argmin(axis=1)
            at = np.arange(T), chosen
            total[g, r] = (sums[r, 1:][at] - sums[r, :-1][at]).sum()
            switches[g, r] = np.count_nonzero(np.diff(chosen))
    return list(zip(total, switches, strict=True))


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


NOISY_LEADERS: Mapping[str, tuple[str, Callable[[int, int, np.random.Generator], Floats]]] = {
    "tree-ftpl-min-noise": ("Gaussian noise on tree-aggregated prefix sums", tree_noise),
    "mf-ftpl": ("Gaussian noise on factorised sums (normalised square root)", matrix_noise),
}
"""Privacy mechanism and noise of each noisy leader, by the registered name of the algorithm."""


def play_blocks(
    losses: PairedLosses, epsilon: float, generators: ReplicateGenerators
) -> tuple[Floats, Floats]:
    """Return the (R,) total losses and (R,) switches of limited updates on gains 1 - loss.

    Args:
        losses: losses of each replicate.
        epsilon: pure epsilon of the actions, for a change of all losses of one round.
        generators: one for each replicate.
    """
    R, (first, *_) = generators.n_replicates, losses.sequences
    setup = CuratorSetup(
        n_replicates=R,
        n_rounds=first.n_rounds,
        n_experts=first.n_experts,
        gain_range=1.0,
        sensitivity=math.sqrt(first.n_experts),
        largest_change=1.0,
        mu=implied_mu(check_number("epsilon", epsilon, "(0, inf]")),
    )
    algorithm = LimitedUpdates()
    state, played = algorithm.step(algorithm.init(setup), None, generators)
    total, switches = np.zeros(R), np.zeros(R)
    seen: Observation | None = None
    for one in losses.batches(1):
        if seen is not None:
            before = played
            state, played = algorithm.step(state, seen, generators)
            switches += played != before
        total += one.of(played)
        seen = Observation(1 - one.losses, np.zeros(first.n_experts))
    return total, switches

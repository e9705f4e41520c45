"""Draws of the sums of all messages of a block of rounds.

A learner's weights depend on sums of its messages. In rounds with the same feature these are sums
of independent, identical terms, so a block of n rounds does not need n messages: counts of labels
or answers are multinomial, and a sum of n Laplace numbers is the difference of two Gamma numbers
of shape n. The distribution is the same as for single messages; the random numbers differ.
"""

from __future__ import annotations

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.labels.clients import SampledClient, VectorClient
from dpol.labels.hypotheses import Ints, draw_categories

# Rounds in a block per category above which counts are faster than single draws.
_MANY = 0.25


def likelihood_sums(
    client: VectorClient | SampledClient,
    truths: Floats,
    feature: int,
    rounds: Ints,
    generators: ReplicateGenerators,
) -> tuple[Floats, Ints]:
    """Return the (R, n, K) sums of noisy log-likelihoods, and the (R, n, K) numbers of their terms.

    Args:
        client: client that sends the messages.
        truths: (R, M) distributions of the label.
        feature: feature of all rounds.
        rounds: (n,) rounds of each block.
        generators: one for each replicate.
    """
    clipping, K = client.clipping, client.clipping.hypotheses.n_hypotheses
    # An empty block is never drawn.
    logs = np.where(clipping.cells[feature] > 0, clipping.log_cells[feature], 0.0)
    scales = client.factor * clipping.sensitivity[feature]
    times = np.empty((len(truths), len(rounds), K), dtype=np.int64)
    sums = np.empty(times.shape)
    for r, generator in enumerate(generators.generators):
        blocks = clipping.masses_of_blocks(truths[r], feature)
        if isinstance(client, VectorClient):
            times[r] = rounds[:, None]
            sums[r] = sums_of_draws(blocks, logs.T, rounds, generator)
        else:
            times[r] = generator.multinomial(rounds, np.full(K, 1 / K))
            for j in range(K):
                own = sums_of_draws(blocks, logs[j, :, None], times[r, :, j], generator)
                sums[r, :, j] = own[:, 0]
        noise = generator.standard_gamma(times[r]) - generator.standard_gamma(times[r])
        sums[r] += scales * noise
    return sums, times


def sums_of_draws(
    chances: Floats, values: Floats, rounds: Ints, generator: np.random.Generator
) -> Floats:
    """Return (n, D) sums of rows of `values` (A, D), one drawn by `chances` (A,) in each round."""
    if rounds.sum() >= _MANY * len(rounds) * len(chances):
        return np.asarray(generator.multinomial(rounds, chances / chances.sum()) @ values)
    uniforms = generator.random(rounds.sum())
    drawn = draw_categories(chances[None], np.zeros_like(uniforms, dtype=np.int64), uniforms)
    block = np.repeat(np.arange(len(rounds)), rounds)
    columns = [np.bincount(block, column[drawn], len(rounds)) for column in values.T]
    return np.stack(columns, axis=1)

"""Audits of the algorithms for expert advice that add Gaussian noise."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpol.config import Audit
from dpol.evaluation.amplification import CALIBRATION, synthetic_stream
from dpol.evaluation.audit.core import (
    Audited,
    audit_gaussian,
    replicates_of,
)
from dpol.experts.adabatch import RWAdaBatch
from dpol.experts.play import CentralAlgorithm, RawGains, guarantee_of, rounds
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.local import NoisyGains, privatize
from dpol.local.noisy_gains import CALIBRATIONS
from dpol.privacy.guarantee import ONE_ROUND
from dpol.randomness import Floats, ReplicateGenerators, replicate_generators
from dpol.streams import GainStream

WHOLE_VECTOR = "two streams that differ in the gains of one round"
# A batch of one round is not amplified.
_NO_BATCH = "no replicate has a batch of two rounds or more around the round that differs"


class Privatize(Protocol):
    """What noises gains, as `dpol.local.privatize` does."""

    def __call__(
        self, stream: GainStream, calibration: str, mu: float, *, seed: int, replicates: range
    ) -> NoisyGains: ...


# ---- Gaussian noise on gains ---------------------------------------------------------------------


def audit_calibrations(settings: Audit, seed: int) -> Iterator[Audited]:
    """Local Gaussian noise under every calibration."""
    for calibration in CALIBRATIONS:
        yield audit_noise(settings, seed, calibration)


def audit_noise(
    settings: Audit, seed: int, calibration: str, mechanism: Privatize = privatize
) -> Audited:
    """All that a local algorithm is given, on two streams that differ in one person."""
    streams = hospitals()
    noisy = [
        mechanism(stream, calibration, settings.mu, seed=seed, replicates=replicates)
        for stream, replicates in zip(streams, replicates_of(settings), strict=True)
    ]
    outputs = [np.concatenate([it.initial[:, None], it.gains], axis=1) for it in noisy]
    gap = (streams[1].gains - streams[0].gains) / noisy[0].noise_scale ** 2
    direction = np.concatenate([np.zeros((1, gap.shape[1])), gap])
    guarantee = noisy[0].guarantee
    result = audit_gaussian(outputs[0], outputs[1], direction, guarantee.mu, settings)
    return Audited(
        "Gaussian noise on gains", calibration, guarantee.adjacency, guarantee.unit, result
    )


def hospitals() -> tuple[GainStream, GainStream]:
    """Two rounds of three hospitals, and the same with one person moved in the first round.

    It moves the two gains that one person can move furthest, in units of the noise, under
    every calibration.
    """
    gains = np.array([[0.9, 0.1, 0.5], [0.5, 0.5, 0.5]])
    stream = GainStream(
        label="audit: hospitals",
        gains=gains,
        capacity=np.array([[5.0, 5.0, 10.0], [8.0, 16.0, 20.0]]),
        entities=("a", "b", "c"),
        periods=np.datetime64("2000-01-01") + np.arange(2),
        count_sensitivity=4.0,
    )
    return stream, dataclasses.replace(stream, gains=gains[:, [1, 0, 2]])


# ---- tree ----------------------------------------------------------------------------------------


def audit_trees(settings: Audit, seed: int) -> Iterator[Audited]:
    """Tree-aggregated prefix sums, both objectives."""
    yield audit_tree(settings, seed, TreeFTPL("min-noise"), "min-noise")
    yield audit_tree(settings, seed, TreeFTPL("min-regret"), "min-regret")


def audit_tree(settings: Audit, seed: int, algorithm: CentralAlgorithm, objective: str) -> Audited:
    """The noisy nodes of a tree, of two streams that differ in one person in the first round.

    The first round enters as many nodes as any. What is observed is the algorithm's state: each
    prefix sum with the noise of its open nodes. The noisy prefixes that it plays by are these
    with fresh noise, so they reveal no more.
    """
    outputs = []
    streams = _beds()
    sources = [RawGains(stream, settings.mu, settings.runs) for stream in streams]
    for source, replicates in zip(sources, replicates_of(settings), strict=True):
        generators = replicate_generators(
            seed, ("audit: beds", float(settings.mu)), replicates, f"algorithm tree {objective}"
        )
        outputs.append(_noisy_nodes(algorithm, source, generators))
    nodes = np.arange(1, streams[0].n_rounds)
    holds_first = (nodes & (nodes - 1)) == 0
    direction = holds_first[:, None] * (streams[1].gains - streams[0].gains)[0]
    guarantee = guarantee_of(algorithm, sources[0])
    result = audit_gaussian(outputs[0], outputs[1], direction, guarantee.mu, settings)
    return Audited(
        "tree-aggregated prefix sums", objective, guarantee.adjacency, guarantee.unit, result
    )


def _beds() -> tuple[GainStream, GainStream]:
    """Eight rounds of two hospitals of two beds, and the same with one person moved."""
    gains = np.full((8, 2), 0.5)
    moved = gains.copy()
    moved[0] = (1.0, 0.0)
    stream = dataclasses.replace(synthetic_stream("beds", gains), capacity=np.full((8, 2), 2.0))
    return stream, dataclasses.replace(stream, gains=moved)


def _noisy_nodes(
    algorithm: CentralAlgorithm, source: RawGains, generators: ReplicateGenerators
) -> Floats:
    """(R, T - 1, n): the noisy sum of the node that each round closes."""
    prefixes = [
        state.prefix + state.noise.total() for state, _ in rounds(algorithm, source, generators)
    ]
    # Round t closes the node of the rounds after t & (t - 1), whose prefix has its other nodes.
    return np.stack([prefixes[t] - prefixes[t & (t - 1)] for t in range(1, len(prefixes))], axis=1)


# ---- RW-AdaBatch ---------------------------------------------------------------------------------


def audit_adabatch(
    settings: Audit,
    seed: int,
    algorithm: RWAdaBatch = RWAdaBatch(alpha=2.2),  # noqa: B008
    mechanism: Privatize = privatize,
) -> Iterator[Audited]:
    """RW-AdaBatch on gains that are zero but for one vector: its actions, and what it reads.

    The actions are held to the local claim. What it reads of a batch is one sum; given that the
    batch around the differing round has B rounds, mu / sqrt(B) is claimed for it. The audited B
    is the most frequent one above 1. The tolerance alpha is large so that short games have
    batches.

    Raises:
        ValueError: no replicate has such a batch.
    """
    streams = _two_vectors()
    noisy = [
        mechanism(stream, CALIBRATION, settings.mu, seed=seed, replicates=replicates)
        for stream, replicates in zip(streams, replicates_of(settings), strict=True)
    ]
    mu = noisy[0].guarantee.mu
    played = [_play(algorithm, it) for it in noisy]
    actions = audit_gaussian(
        played[0].actions, played[1].actions, np.ones(len(streams[0].gains)), mu, settings
    )
    yield Audited("RW-AdaBatch, actions", "local claim", WHOLE_VECTOR, ONE_ROUND, actions)
    size = _most_frequent(np.concatenate([it.sizes for it in played]))
    sums = [it.sums[it.sizes == size] for it in played]
    result = audit_gaussian(sums[0], sums[1], np.array([1.0, -1.0]), mu / math.sqrt(size), settings)
    yield Audited(
        "RW-AdaBatch, sum of a batch", f"given its size {size}", WHOLE_VECTOR, ONE_ROUND, result
    )


_DIFFERING = 2  # The round, counted from 1, in which the two vectors differ.


def _two_vectors() -> tuple[GainStream, GainStream]:
    one, other = np.zeros((2, 8, 2))
    one[_DIFFERING - 1], other[_DIFFERING - 1] = (1.0, 0.0), (0.0, 1.0)
    return synthetic_stream("audit: vectors", one), synthetic_stream("audit: vectors", other)


@dataclass(frozen=True)
class _Batches:
    """(R, T) actions; of the batch around the differing round (R,) sizes and (R, n) sums.

    The size is 0 where the batch runs past the last round but one, so that its end is not seen.
    """

    actions: Floats
    sizes: np.ndarray[Any, np.dtype[np.int64]]
    sums: Floats


def _play(algorithm: RWAdaBatch, noisy: NoisyGains) -> _Batches:
    # The algorithm draws nothing of its own.
    unused = replicate_generators(0, ("unused",), range(noisy.n_replicates), "none")
    played = list(rounds(algorithm, noisy, unused))
    actions = np.stack([chosen for _, chosen in played], axis=1).astype(float)
    # Before round t, counted from 1, the sum is that of t - 1 rounds.
    cumulative = np.stack([state.cumulative for state, _ in played], axis=1)
    now, _ = played[_DIFFERING - 1]
    end = _DIFFERING + now.left
    seen = end < noisy.n_rounds
    row, end = np.arange(len(end)), np.where(seen, end, 0)
    start = np.where(seen, end - now.planned, 0)
    sums = cumulative[row, end] - cumulative[row, start]
    return _Batches(actions, np.where(seen, now.planned, 0), sums)


def _most_frequent(sizes: np.ndarray[Any, np.dtype[np.int64]]) -> int:
    counts = np.bincount(sizes)
    if len(counts) < 3:
        raise ValueError(_NO_BATCH)
    return 2 + int(counts[2:].argmax())

"""Audits of the mechanisms that add Gaussian noise to the gains of experts, or to their sums."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from dpol.core.randomness import Floats, replicate_generators
from dpol.data.stream import GainStream
from dpol.experts.interface import CentralAlgorithm
from dpol.experts.play import RawGains, guarantee_of, rounds
from dpol.experts.tree_ftpl import TreeFTPL, TreeState
from dpol.noise import CAPACITY, NOISES, NoisyGains, privatize
from dpol.studies.audits.core import Audited, Subject, gaussian_audits, moves, replicates_of
from dpol.studies.audits.settings import Audits

_FIRST, _LAST = 0, 5
"""The hospitals between which one person moves, of six."""


class Privatize(Protocol):
    """What noises gains, as `dpol.noise.privatize` does."""

    def __call__(
        self, stream: GainStream, noise: str, mu: float, *, seed: int, replicates: range
    ) -> NoisyGains: ...


# ---- Gaussian noise on gains ---------------------------------------------------------------------


def audit_noises(settings: Audits, seed: int) -> Iterator[Audited]:
    """Local Gaussian noise, scaled in every way."""
    for noise in NOISES:
        yield from audit_noise(settings, seed, noise)


def audit_noise(
    settings: Audits, seed: int, noise: str, mechanism: Privatize = privatize
) -> Iterator[Audited]:
    """All that a local algorithm is given: z_0 and the noisy gains of every round.

    The event tells apart two streams that differ in one person. The covariance is of the same
    runs, and its changes are those of one person between any two hospitals, or in and out of any
    one, in any round.
    """
    streams = hospitals()
    noisy = [
        mechanism(stream, noise, settings.mu, seed=seed, replicates=replicates)
        for stream, replicates in zip(streams, replicates_of(settings), strict=True)
    ]
    guarantee = noisy[0].guarantee
    subject = Subject(
        "Gaussian noise on gains",
        noise,
        "dpol.noise.privatize",
        "6 hospitals, 3 rounds; one person moves from the first to the last in round 1",
        guarantee.adjacency,
        guarantee.unit,
        settings.mu,
        guarantee.mu,
    )
    yield from gaussian_audits(
        subject,
        [np.concatenate([it.initial[:, None], it.gains], axis=1) for it in noisy],
        direction=_after_initial(streams[1].gains - streams[0].gains),
        changes=np.concatenate([_after_initial(it) for it in _changes(streams[0])]),
        settings=settings,
    )


def hospitals() -> tuple[GainStream, GainStream]:
    """Three rounds of six hospitals, and the same with one person moved in the first round.

    The move is the furthest that one person can cause, whatever the noise. Each hospital is
    one of the two smallest in one of the rounds, so that none has noise to spare in all of them.
    """
    gains = np.full((3, 6), 0.5)
    gains[0, [_FIRST, _LAST]] = 1.0, 0.0
    moved = gains.copy()
    moved[0, [_FIRST, _LAST]] = 0.0, 1.0
    capacity = [[4, 8, 10, 12, 16, 4], [8, 4, 12, 16, 4, 10], [10, 12, 4, 4, 8, 16]]
    stream = GainStream(
        label="audit: hospitals",
        gains=gains,
        capacity=np.array(capacity, dtype=float),
        entities=tuple("abcdef"),
        periods=np.datetime64("2000-01-01") + np.arange(3),
        count_sensitivity=4.0,
    )
    return stream, dataclasses.replace(stream, gains=moved)


def _changes(stream: GainStream) -> Iterator[Floats]:
    """(m, T, n) for every round: how one person can change the gains of that round."""
    sizes = stream.count_sensitivity / stream.capacities_for("an audit")
    for t in range(stream.n_rounds):
        found = moves(sizes[t])
        yield found[:, None] * (np.arange(stream.n_rounds) == t)[:, None]


def _after_initial(changes: Floats) -> Floats:
    """Changes (..., T, n) of gains as changes (..., 1 + T, n) of z_0 and gains."""
    return np.concatenate([np.zeros_like(changes[..., :1, :]), changes], axis=-2)


# ---- tree ----------------------------------------------------------------------------------------


def audit_trees(settings: Audits, seed: int) -> Iterator[Audited]:
    """Tree-aggregated prefix sums: both objectives, both noises."""
    for algorithm in (
        TreeFTPL("min-noise"),
        TreeFTPL("min-regret"),
        TreeFTPL("min-noise", CAPACITY.name),
    ):
        variant = f"{algorithm.objective}, {algorithm.noise}"
        yield from audit_tree(settings, seed, algorithm, variant)


def audit_tree(
    settings: Audits, seed: int, algorithm: CentralAlgorithm[TreeState], variant: str
) -> Iterator[Audited]:
    """The noisy nodes of a tree and its actions, of two streams that differ in one person.

    The person moves in the first round, which enters as many nodes as any. The nodes are read
    from the algorithm's state: each prefix sum with the noise of its open nodes. The event may
    also be one of the actions, which are made from these nodes and fresh noise.
    """
    streams = _beds()
    sources = [RawGains(stream, settings.mu, settings.runs) for stream in streams]
    nodes, lead = [], []
    for source, replicates in zip(sources, replicates_of(settings), strict=True):
        generators = replicate_generators(
            seed, ("audit: beds", float(settings.mu)), replicates, f"algorithm tree {variant}"
        )
        played = list(rounds(algorithm, source, generators))
        nodes.append(_noisy_nodes([state.prefix + state.noise.total() for state, _ in played]))
        actions = np.stack([chosen for _, chosen in played], axis=1)
        lead.append(((actions == _LAST) * 1.0 - (actions == _FIRST)).sum(axis=1))
    guarantee = guarantee_of(algorithm, sources[0])
    subject = Subject(
        "tree-aggregated prefix sums",
        variant,
        f"{type(algorithm).__name__}.step",
        "6 hospitals, 5 rounds; one person moves from the first to the last in round 1",
        guarantee.adjacency,
        guarantee.unit,
        settings.mu,
        guarantee.mu,
    )
    enters = _node_rounds(streams[0].n_rounds)
    yield from gaussian_audits(
        subject,
        nodes,
        direction=enters @ (streams[1].gains - streams[0].gains),
        changes=np.concatenate([enters @ change for change in _changes(streams[0])]),
        settings=settings,
        actions=lead,
    )


def _beds() -> tuple[GainStream, GainStream]:
    """Five rounds of six hospitals, and the same with one person moved in the first round.

    One hospital is larger than the others, so that the noises differ.
    """
    gains = np.full((5, 6), 0.5)
    gains[0, [_FIRST, _LAST]] = 1.0, 0.0
    moved = gains.copy()
    moved[0, [_FIRST, _LAST]] = 0.0, 1.0
    stream = GainStream(
        label="audit: beds",
        gains=gains,
        capacity=np.tile([2.0, 2.0, 2.0, 2.0, 4.0, 2.0], (5, 1)),
        entities=tuple("abcdef"),
        periods=np.datetime64("2000-01-01") + np.arange(5),
        count_sensitivity=2.0,
    )
    return stream, dataclasses.replace(stream, gains=moved)


def _node_rounds(n_rounds: int) -> Floats:
    """(T - 1, T): whether the node that round t closes holds round r.

    Round t, counted from 1, closes the node of the rounds after t & (t - 1), up to t.
    """
    t, r = np.ogrid[1:n_rounds, 1 : n_rounds + 1]
    return np.asarray((r > (t & (t - 1))) & (r <= t), dtype=float)


def _noisy_nodes(prefixes: list[Floats]) -> Floats:
    """(R, T - 1, n): the noisy sum of the node that each round closes, from noisy prefixes."""
    return np.stack([prefixes[t] - prefixes[t & (t - 1)] for t in range(1, len(prefixes))], axis=1)

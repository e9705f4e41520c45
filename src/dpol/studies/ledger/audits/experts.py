"""Audits of noise on gains, on nodes of a tree, and on sums of a matrix mechanism."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpol.core.randomness import Floats, SeedKey, replicate_generators
from dpol.data.stream import GainStream
from dpol.data.synthetic import adjacent_streams, largest_changes
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.noisy_max import NoisyMax
from dpol.experts.play import RawGains, guarantee_of, rounds
from dpol.experts.released_sums import ReleasedSums
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.noise import (
    CAPACITY,
    CENTRAL_NOISES,
    EVENT_STREAMS,
    ISOTROPIC,
    MEMORY,
    NOISES,
    NoisyGains,
    privatize,
)
from dpol.privacy.auditing import with_fitted_direction
from dpol.privacy.guarantee import Guarantee
from dpol.privacy.tree_noise import tree_nodes
from dpol.studies.ledger.audits.core import (
    Audited,
    Subject,
    by_event,
    gaussian_audits,
    replicates_of,
)
from dpol.studies.ledger.audits.settings import MU, Audits

FIRST, LAST = 0, 5
"""One person moves between these two of six hospitals."""
BEDS = "audit: beds", [[2, 2, 2, 2, 4, 2]] * 5, 2.0
"""Five rounds of six hospitals. One is larger than the others, so that the noises differ."""


# ---- Gaussian noise on gains ---------------------------------------------------------------------


def audit_noises(settings: Audits, seed: int) -> Iterator[Audited]:
    """Audit every local Gaussian noise."""
    for name, noise in NOISES.items():
        if noise.mechanism is None:
            yield from audit_noise(settings, seed, name)


def audit_noise(settings: Audits, seed: int, noise: str, stay: int = 1) -> Iterator[Audited]:
    """Audit all that a local algorithm is given: z_0 and the noisy gains of every round.

    The event separates two streams that differ in one person. The covariance comes from the same
    runs. Its changes are all moves of one person between two hospitals, or in or out of one, in
    any round, or in all rounds of any stay.
    """
    # Chains are made for any length, so they have noise to spare in a short game.
    streams = hospitals(stay, 1 if NOISES[noise].memory == "none" else 3)
    noisy = [
        privatize(stream, noise, MU, seed=seed, replicates=replicates)
        for stream, replicates in zip(streams, replicates_of(settings), strict=True)
    ]
    one, other = streams
    made, code = noisy[0].guarantee, "dpol.noise.privatize"
    z_0 = (1, 0)  # No change moves it.
    yield from gaussian_audits(
        subject_of("Gaussian noise on gains", noise, code, one, made),
        [np.concatenate([each.initial[:, None], each.gains], axis=1) for each in noisy],
        direction=np.pad(_matched(noisy[0], other.gains - one.gains), (z_0, (0, 0))),
        changes=np.pad(changes_of(one), ((0, 0), z_0, (0, 0))),
        settings=settings,
    )


def audit_streams(settings: Audits, seed: int) -> Iterator[Audited]:
    """Audit every mechanism for streams, for stays of three rounds."""
    for noise in EVENT_STREAMS:
        yield from audit_releases(settings, seed, noise.name)


def audit_releases(settings: Audits, seed: int, noise: str) -> Iterator[Audited]:
    """Audit all releases of a mechanism for streams: the privacy loss of a whole stay, by an event.

    The event is one of the log odds of Laplace noise, summed over the releases that the person is
    in; of another linear combination; or of how many releases repeat the last.
    """
    streams = hospitals(stay=3, times=3)
    moved = streams[1].gains - streams[0].gains
    gains, odds, repeats = [], [], []
    for stream, replicates in zip(streams, replicates_of(settings), strict=True):
        noisy = privatize(stream, noise, MU, seed=seed, replicates=replicates)
        apart = (noisy.gains - streams[0].gains)[:, moved != 0] / moved[moved != 0]
        odds.append(np.clip(2 * apart - 1, -1, 1).sum(axis=1))
        repeats.append((np.diff(noisy.gains, axis=1) == 0).sum(axis=(1, 2)).astype(float))
        gains.append(noisy.gains.reshape(len(noisy.gains), -1))
    made, code = noisy.guarantee, "dpol.noise.privatize"
    subject = subject_of("releases of a stream", noise, code, streams[0], made)
    event = "an event of the log odds, of a linear combination, or of the number of repeats"
    statistics = [odds, with_fitted_direction(*gains), repeats]
    yield by_event(subject, event, statistics, settings)


def _matched(noisy: NoisyGains, moved: Floats) -> Floats:
    """Return the weights (T, n) that detect a move best, given the correlation of the noise."""
    if noisy.memory is None or noisy.fresh_scale is None:
        return moved
    draws = np.repeat(np.eye(len(moved))[:, :, None], moved.shape[1], axis=2)
    noise = noisy.memory.noise(draws) * noisy.fresh_scale[:, None]
    matrices = noise.transpose(2, 0, 1)
    precision = np.linalg.pinv(matrices @ matrices.transpose(0, 2, 1), hermitian=True)
    return np.asarray((precision @ moved.T[:, :, None])[:, :, 0].T)


def hospitals(stay: int = 1, times: int = 1) -> tuple[GainStream, GainStream]:
    """Make three rounds of six hospitals, and the same with one person moved in the first ones.

    Each hospital is one of the two smallest in one of the rounds, so that none has noise to spare
    in all of them. The rounds' capacities are repeated `times` times.
    """
    capacity = [[4, 8, 10, 12, 16, 4], [8, 4, 12, 16, 4, 10], [10, 12, 4, 4, 8, 16]] * times
    return one_moved("audit: hospitals", capacity, persons=4.0, stay=stay)


# ---- tree ----------------------------------------------------------------------------------------


def audit_trees(settings: Audits, seed: int) -> Iterator[Audited]:
    """Audit tree-aggregated prefix sums: both objectives, both noises."""
    yield from audit_tree(settings, seed, TreeFTPL("min-noise"))
    yield from audit_tree(settings, seed, TreeFTPL("min-regret"))
    yield from audit_tree(settings, seed, TreeFTPL("min-noise"), CAPACITY.name)


def audit_tree(
    settings: Audits, seed: int, algorithm: TreeFTPL, noise: str = ISOTROPIC.name, stay: int = 1
) -> Iterator[Audited]:
    """Audit the noisy nodes and the actions of a tree on two streams that differ in one person.

    The person moves in the first round, which enters as many nodes as any other. The nodes are read
    from the algorithm's state: each prefix sum with the noise of its open nodes. The event may also
    be about the actions, which follow from these nodes and fresh noise.
    """
    streams = one_moved(*BEDS, stay)
    variant, nodes = f"{algorithm.objective}, {noise}", tree_nodes(streams[0].n_rounds)

    def outputs(states: list[Any]) -> Floats:
        sums = [state.prefix + state.noise.total() for state in states]
        # The noisy sum (R, n) of the node that each round closes.
        return np.stack([sums[t] - sums[t & (t - 1)] for t in range(1, len(sums))], axis=1)

    curator = _Curator("tree-aggregated prefix sums", variant, algorithm, noise, nodes, outputs)
    key, purpose = (streams[0].label, MU), f"algorithm tree {variant}"
    yield from curator.audits(streams, settings, seed, key, purpose)


# ---- sums that a curator releases ----------------------------------------------------------------


def audit_sums(settings: Audits, seed: int) -> Iterator[Audited]:
    """Audit all factorisations, with both noises for prefix sums."""
    for noise in CENTRAL_NOISES:
        yield from audit_released(settings, seed, MatrixFTPL(), "prefix sums", noise)
    yield from audit_released(settings, seed, MatrixFTPL(decay=0.8), "decayed sums")
    yield from audit_released(settings, seed, NoisyMax(window=3), "fresh window sums")


def audit_released(
    settings: Audits,
    seed: int,
    algorithm: ReleasedSums,
    name: str = "prefix sums",
    noise: str = CAPACITY.name,
    stay: int = 1,
) -> Iterator[Audited]:
    """Audit a curator's released sums and actions on two streams that differ in one person.

    Args:
        settings: settings of the study.
        seed: root of all randomness.
        algorithm: the algorithm that releases the sums.
        name: name of the sums.
        noise: name of the noise on the sums.
        stay: number of rounds that the person stays.
    """
    streams = one_moved(*BEDS, stay)
    variant, workload = f"{name}, {noise}", algorithm.factorization(streams[0].n_rounds).workload

    def outputs(states: list[Any]) -> Floats:
        return np.stack([state.released for state in states[1:]], axis=1)

    curator = _Curator("factorised sums", variant, algorithm, noise, workload[:-1], outputs)
    key = ("audit: sums", streams[0].label, MU)
    yield from curator.audits(streams, settings, seed, key, f"algorithm {variant}")


# ---- stays --------------------------------------------------------------------------------------


def audit_stays(settings: Audits, seed: int) -> Iterator[Audited]:
    """Audit stays of three rounds: local noise, a tree, and factorised prefix sums."""
    for noise in (CAPACITY, MEMORY):
        yield from audit_noise(settings, seed, noise.name, stay=3)
    yield from audit_tree(settings, seed, TreeFTPL(), CAPACITY.name, stay=3)
    yield from audit_released(settings, seed, MatrixFTPL(), stay=3)


# ---- shared parts --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Curator:
    """A central algorithm and what it releases.

    Args:
        mechanism: name of what it releases.
        variant: which of these.
        algorithm: the algorithm.
        noise: name of its noise.
        matrix: (k, T) what it releases of gains (T, n), without noise.
        outputs: returns what it released, (R, k, n), from its states in all rounds.
    """

    mechanism: str
    variant: str
    algorithm: TreeFTPL | ReleasedSums
    noise: str
    matrix: Floats
    outputs: Callable[[list[Any]], Floats]

    def audits(
        self,
        streams: tuple[GainStream, GainStream],
        settings: Audits,
        seed: int,
        key: SeedKey,
        purpose: str,
    ) -> Iterator[Audited]:
        """Audit what it releases on two streams, and the lead of `LAST` in its actions."""
        released, lead = [], []
        for stream, numbers in zip(streams, replicates_of(settings), strict=True):
            source = RawGains(stream, MU, numbers, noise=self.noise)
            generators = replicate_generators(seed, key, numbers, purpose)
            states, actions = zip(*rounds(self.algorithm, source, generators), strict=True)
            released.append(self.outputs([*states]))
            chosen = np.stack(actions, axis=1)
            lead.append((chosen == LAST).sum(axis=1) - (chosen == FIRST).sum(axis=1))
        code, made = f"{type(self.algorithm).__name__}.step", guarantee_of(self.algorithm, source)
        yield from gaussian_audits(
            subject_of(self.mechanism, self.variant, code, streams[0], made),
            released,
            direction=self.matrix @ (streams[1].gains - streams[0].gains),
            changes=self.matrix @ changes_of(streams[0]),
            settings=settings,
            actions=lead,
        )


def one_moved(
    label: str, capacity: list[list[int]], persons: float, stay: int = 1
) -> tuple[GainStream, GainStream]:
    """Make rounds of six hospitals, and the same with one person moved in the first `stay` rounds.

    The move is the largest change that one person can cause, whatever the noise.
    """
    beds = np.array(capacity, dtype=float)
    gains = np.full(beds.shape, 0.5)
    gains[:stay, [FIRST, LAST]] -= persons / beds[:stay, [FIRST, LAST]] / 2
    periods = np.datetime64("2000-01-01") + np.arange(len(gains))
    stream = GainStream(
        label=label if stay == 1 else f"{label}, stays of {stay}",
        gains=gains,
        capacity=beds,
        entities=tuple("abcdef"),
        periods=periods,
        count_sensitivity=persons,
        stay=stay,
    )
    return adjacent_streams(stream, range(stay), (FIRST, LAST))


def moves(sizes: Floats) -> Floats:
    """Return the changes (m, n) of a round's gains when one person moves, arrives or departs.

    Args:
        sizes: (n,) largest change of each gain by one person.

    >>> moves(np.array([1.0, 0.5])).tolist()
    [[1.0, 0.0], [0.0, 0.5], [1.0, -0.5]]
    """
    alone = np.diag(sizes)
    first, second = np.triu_indices(len(sizes), k=1)
    return np.concatenate([alone, alone[first] - alone[second]])


def changes_of(stream: GainStream) -> Floats:
    """Return the changes (k, T, n) of the gains by one person, in each round or each stay."""
    sizes = largest_changes(stream)
    only = np.eye(stream.n_rounds)[:, :, None]
    rounds = np.array([moves(sizes[t])[:, None] * only[t] for t in range(stream.n_rounds)])
    last = stream.n_rounds - stream.stay + 1
    return np.concatenate([rounds[t : t + stream.stay].sum(axis=0) for t in range(last)])


def subject_of(
    mechanism: str, variant: str, code: str, stream: GainStream, made: Guarantee
) -> Subject:
    """Return the subject of an audit on the streams of `one_moved`."""
    when = "round 1" if stream.stay == 1 else f"rounds 1 to {stream.stay}"
    return Subject(
        mechanism=mechanism,
        variant=variant if stream.stay == 1 else f"{variant}, stays of {stream.stay} rounds",
        code=code,
        inputs=f"6 hospitals, {stream.n_rounds} rounds; one person moves from the first to the"
        f" last in {when}",
        adjacency=made.adjacency,
        unit=made.unit,
        requested=MU,
        recorded=made.mu,
    )

"""Audits of RW-AdaBatch: its actions against the amplified claim, and what it reads."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators, replicate_generators
from dpol.data.stream import GainStream
from dpol.experts.adabatch import RWAdaBatch
from dpol.experts.play import rounds
from dpol.noise import NoisyGains, privatize
from dpol.privacy.audit import audit_runs, with_fitted_direction
from dpol.privacy.audit_laws import audit_covariance
from dpol.studies.audits.core import Audited, Subject, replicates_of
from dpol.studies.audits.experts import Privatize
from dpol.studies.audits.settings import Audits
from dpol.studies.batching.study import NOISE, analytic_mixture, synthetic_stream

_EXPERTS, _ROUNDS = 6, 40
_CODE = "dpol.noise.privatize, RWAdaBatch.step"


def audit_adabatch(
    settings: Audits,
    seed: int,
    algorithm: RWAdaBatch = RWAdaBatch(alpha=3.0),  # noqa: B008
    mechanism: Privatize = privatize,
) -> Iterator[Audited]:
    """RW-AdaBatch on gains that are zero but for the vector of the first round.

    The tolerance alpha is so large that any gap will do for the first batch: by the analytic
    bound it holds B rounds, whatever the noise. With noise of mu sqrt(B) in every round, mu is
    claimed for the actions of the whole game. An algorithm that acts within a batch, or plays a
    shorter one, tells more. The second batch depends on the gap.

    What a batch reads is the sum of the gains since the last reading. Over the square root of its
    recorded size, it must have the noise of one round.

    Raises:
        ValueError: the analytic bound does not put the first round into a batch of one size.
    """
    streams = _two_vectors()
    size = _promised_size(algorithm)
    local = settings.mu * math.sqrt(size)
    noisy = [
        mechanism(stream, NOISE, local, seed=seed, replicates=replicates)
        for stream, replicates in zip(streams, replicates_of(settings), strict=True)
    ]
    # The algorithm draws nothing of its own.
    unused = [
        replicate_generators(seed, ("audit: vectors",), replicates, "unused")
        for replicates in replicates_of(settings)
    ]
    played = [_play(algorithm, *it) for it in zip(noisy, unused, strict=True)]
    guarantee = noisy[0].guarantee
    inputs = f"{_EXPERTS} experts, {_ROUNDS} rounds; all gains of round 1 change"
    about = inputs, guarantee.adjacency, guarantee.unit
    amplified = Subject(
        "RW-AdaBatch, actions",
        f"amplified by a batch of {size}",
        _CODE,
        *about,
        settings.mu,
        guarantee.mu / math.sqrt(size),
    )
    yield _audit_actions(amplified, [it.actions for it in played], settings)
    for number, batch in enumerate(("first", "second")):
        read = Subject(
            "RW-AdaBatch, sum of a batch",
            f"{batch}, of its recorded size",
            _CODE,
            *about,
            local,
            guarantee.mu,
        )
        yield _audit_reading(read, [it.reads[number] for it in played], settings)


def _two_vectors() -> tuple[GainStream, GainStream]:
    one, other = np.zeros((2, _ROUNDS, _EXPERTS))
    one[0, : _EXPERTS // 2], other[0, _EXPERTS // 2 :] = 1.0, 1.0
    return synthetic_stream("audit: vectors", one), synthetic_stream("audit: vectors", other)


def _promised_size(algorithm: RWAdaBatch) -> int:
    """The size of the first batch that amplification counts on, for any gains and any noise."""
    zeros = synthetic_stream("all-zero", np.zeros((_ROUNDS, _EXPERTS)))
    mixture = analytic_mixture(algorithm, zeros, 1.0, 1)
    most = int(mixture.weights.argmax())
    if mixture.weights[most] < 1 - 1e-9 or mixture.sizes[most] < 2:
        raise ValueError(
            f"with alpha = {algorithm.alpha} no single size of the first batch is certain, at"
            " least 2; take a larger alpha"
        )
    return int(mixture.sizes[most])


@dataclass(frozen=True)
class _Game:
    """A game as it was played.

    Args:
        actions: (R, T).
        reads: of the first and of the second batch, (N, n) the sums of the gains that it adds
            over the square roots of its recorded sizes, for the N replicates that read it before
            the game ends.
    """

    actions: Floats
    reads: list[Floats]


def _play(algorithm: RWAdaBatch, noisy: NoisyGains, generators: ReplicateGenerators) -> _Game:
    played = list(rounds(algorithm, noisy, generators))
    actions = np.stack([chosen for _, chosen in played], axis=1).astype(float)
    # In round t, counted from 0, the sum is that of z_0 and t rounds.
    cumulative = np.stack([state.cumulative for state, _ in played], axis=1)
    recorded = np.stack([state.planned for state, _ in played], axis=1)
    ends = np.stack([state.left == 0 for state, _ in played], axis=1)
    rows = np.arange(len(actions))
    start, reads = np.zeros_like(rows), []
    for _ in range(2):
        later = ends[rows] & (np.arange(ends.shape[1]) >= start[:, None])
        following = later.argmax(axis=1) + 1
        seen = later.any(axis=1) & (following < ends.shape[1])
        rows, start, following = rows[seen], start[seen], following[seen]
        added = cumulative[rows, following] - cumulative[rows, start]
        reads.append(added / np.sqrt(recorded[rows, start])[:, None])
        start = following
    return _Game(actions, reads)


def _audit_actions(subject: Subject, actions: Sequence[Floats], settings: Audits) -> Audited:
    """By the share of rounds with a leader of the one half of the experts, evenly or fitted."""
    halves = [(it >= _EXPERTS // 2).astype(float) for it in actions]
    statistics = [
        np.column_stack([half.sum(axis=1), fitted])
        for half, fitted in zip(halves, with_fitted_direction(*halves), strict=True)
    ]
    result = audit_runs(
        *statistics, parameter="mu", claimed=subject.claimed, confidence=settings.confidence
    )
    return Audited(subject, "an event of the rounds in which one half of the experts lead", result)


def _audit_reading(subject: Subject, reads: Sequence[Floats], settings: Audits) -> Audited:
    """By the covariance of the sums, for every change of all gains of a round from end to end."""
    changes = np.array([(1.0, *it) for it in itertools.product((1.0, -1.0), repeat=_EXPERTS - 1)])
    result = audit_covariance(
        reads, changes, claimed=subject.claimed, confidence=settings.confidence
    )
    return Audited(subject, f"covariance of the sums, {len(changes)} changes", result)

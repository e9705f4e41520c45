"""The audit of the actions of RW-AdaBatch, by the amplified claim."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dpol.data.synthetic import synthetic_stream
from dpol.experts.adabatch import RWAdaBatch
from dpol.experts.play import play_rounds
from dpol.studies.ledger.audits.core import (
    Audit,
    Subject,
    by_event,
    combinations,
    replicates_of,
)
from dpol.studies.ledger.audits.settings import MU, Audits
from dpol.studies.paper1.batching.compute import analytic_mixture, noisy_game

ALGORITHM = RWAdaBatch(alpha=3.0)
"""RW-AdaBatch with a tolerance that makes the size of its first batch certain."""
_EXPERTS, _ROUNDS = 6, 40


def audit_adabatch(settings: Audits, seed: int) -> Iterator[Audit]:
    """Audit RW-AdaBatch on gains that are zero except in the first round.

    By the analytic bound the first batch holds B rounds, whatever the noise. With noise at
    mu sqrt(B) in every round, mu is claimed for the actions of the whole game. An algorithm that
    acts within a batch, or plays a shorter one, reveals more. The second batch depends on the gap.
    """
    mixture = analytic_mixture(ALGORITHM, (_ROUNDS, _EXPERTS), 1.0, 1)
    size = int(mixture.sizes[mixture.weights.argmax()])
    halves = []  # rounds in which one half of the experts leads
    one, other = np.zeros((2, _ROUNDS, _EXPERTS))
    one[0, : _EXPERTS // 2], other[0, _EXPERTS // 2 :] = 1.0, 1.0
    for gains, replicates in zip((one, other), replicates_of(settings), strict=True):
        stream = synthetic_stream("audit: vectors", gains)
        noisy, unused = noisy_game(stream, MU * math.sqrt(size), seed, replicates)
        actions = play_rounds(ALGORITHM, noisy, unused)
        halves.append((actions >= _EXPERTS // 2).astype(float))
    made = noisy.guarantee
    subject = Subject(
        mechanism="RW-AdaBatch, actions",
        variant=f"amplified by a batch of {size}",
        code="dpol.noise.privatize, RWAdaBatch.step",
        inputs=f"{_EXPERTS} experts, {_ROUNDS} rounds; all gains of round 1 change",
        adjacency=made.adjacency,
        unit=made.unit,
        requested=MU,
        recorded=made.mu / math.sqrt(size),
    )
    event = "an event of the rounds in which one half of the experts lead"
    yield by_event(subject, event, [combinations(halves, np.ones(_ROUNDS))])

"""Streams of synthetic gains, and pairs of streams that differ in a person or in whole rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpol.core.randomness import Floats
from dpol.data.stream import GainStream


def synthetic_stream(label: str, gains: Floats) -> GainStream:
    """Return a stream whose whole gain vector may change in a round: sensitivity sqrt(n).

    The (T, n) gains lie in [0, 1]. No stream of a config can have this label and share its noise.
    """
    return GainStream(gains, label=f"synthetic: {label}, n = {gains.shape[1]}")


def adjacent_streams(
    stream: GainStream, rounds: Sequence[int], experts: tuple[int, int], *, moves: bool = False
) -> tuple[GainStream, GainStream]:
    """Return a stream with a person at the first of two experts, and at the second.

    All audits of people have such a pair: those of `dpol check` and those of the ledger.

    Args:
        stream: the gains without the person.
        rounds: the rounds that count the person, from 0.
        experts: the two experts.
        moves: whether the person moves between the two from round to round.
    """
    changes = largest_changes(stream)

    def at(place: int) -> GainStream:
        gains = stream.gains.copy()
        for k, t in enumerate(rounds):
            i = experts[(place + k * moves) % 2]
            gains[t, i] += changes[t, i]
        return replace(stream, gains=gains)

    return at(0), at(1)


def largest_changes(stream: GainStream) -> Floats:
    """Return how far a person changes each gain, (T, n); two changes are a given sensitivity."""
    if stream.capacity is None:
        return np.broadcast_to(stream.sensitivity[:, None] / math.sqrt(2), stream.gains.shape)
    return stream.count_sensitivity / stream.capacity

"""Streams of synthetic gains, in which a whole round may change instead of one person."""

from __future__ import annotations

import math

import numpy as np

from dpol.core.randomness import Floats
from dpol.data.stream import GainStream


def synthetic_stream(label: str, gains: Floats) -> GainStream:
    """Return a stream whose whole gain vector may change in a round: sensitivity sqrt(n).

    The (T, n) gains lie in [0, 1]. No stream of a config can have this label and share its noise.
    """
    rounds, n = gains.shape
    return GainStream(
        label=f"synthetic: {label}, n = {n}",
        gains=gains,
        capacity=None,
        entities=tuple(f"expert {i}" for i in range(n)),
        periods=np.datetime64("2000-01-01") + np.arange(rounds),
        given_sensitivity=np.full(rounds, math.sqrt(n)),
    )

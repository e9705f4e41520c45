"""Streams of made-up gains, in which whole rounds change, not people."""

from __future__ import annotations

import math

import numpy as np

from dpol.core.randomness import Floats
from dpol.data.stream import GainStream


def synthetic_stream(label: str, gains: Floats) -> GainStream:
    """A stream whose whole gain vector of a round may change: sensitivity sqrt(n).

    No stream of a config can have its label, so their noise is never the same.
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

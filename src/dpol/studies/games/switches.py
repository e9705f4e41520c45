"""The best sequences of experts in hindsight, by how often they switch."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from dpol.core.randomness import Floats
from dpol.data.stream import GainStream

MOST_SWITCHES = 200
"""Largest S of the table: its time grows with the rounds and with S."""


def best_sequences(streams: Iterable[GainStream]) -> pd.DataFrame:
    """Return a row per stream and S, up to `MOST_SWITCHES` (docs/reference/tables.md)."""
    frames = []
    for stream in streams:
        best = switching_gains(stream.gains, min(stream.n_rounds - 1, MOST_SWITCHES))
        rows = {"stream": stream.label, "switches": range(len(best)), "best_gain": best}
        frames.append(pd.DataFrame(rows))
    return pd.concat(frames, ignore_index=True)


def switching_gains(gains: Floats, most: int) -> Floats:
    """Return the largest gains of sequences of experts with at most S switches, S = 0, ..., `most`.

    The first is the gain of the best fixed expert, that of T - 1 switches the gain of each round's
    best. The regret of a game against S switches is one of them minus its own gain.

    Args:
        gains: (T, n) gains.
        most: largest number of switches.

    Returns:
        (most + 1,) gains, which never fall with S.

    >>> switching_gains(np.array([[3.0, 0.0], [0.0, 1.0], [3.0, 0.0]]), 2).tolist()
    [6.0, 6.0, 7.0]
    """
    # Largest gains so far with at most S switches, by the expert of the last round. To "switch" to
    # the same expert is never better than to stay, so the best predecessor may be any.
    best = np.tile(gains[0], (most + 1, 1))
    for gain in gains[1:]:
        best[1:] = np.maximum(best[1:], best[:-1].max(axis=1, keepdims=True))
        best += gain
    return np.asarray(best.max(axis=1))

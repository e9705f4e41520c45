"""A point of the main study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpol.noise import MemoryChoice


@dataclass(frozen=True, kw_only=True)
class GamePoint:
    """The games of a suite on a stream, with one noise and one level, of a block of replicates.

    Args:
        suite: label of the suite.
        algorithms: its algorithms, as in the config.
        noise: name of the noise.
        mu: Gaussian-DP parameter; infinity without noise.
        block: number of the first replicate, and of the last.
        memory: memory of the noise `capacity-memory`.
        keep_rounds: whether every round is kept.
    """

    suite: str
    algorithms: tuple[Any, ...]
    noise: str
    mu: float
    block: tuple[int, int]
    memory: MemoryChoice
    keep_rounds: bool

"""Gaussian noise with a memory of one number: C(L) = kappa (1 - a L) / (1 - b L)."""

from __future__ import annotations

import numpy as np


def chain_norm(a: float, b: float, stay: int) -> float:
    """N_w of a memory (a, b) for kappa = 1: how far a stay of w rounds moves C x at most.

    For chains of any length. A person who stays v rounds in place of w has N_v / N_w times the mu.

    Raises:
        ValueError: w is below 1; or w is above 1, and weeks of a stay can cancel others, as b is
            below a or 0.

    >>> [round(chain_norm(0.2, 0.6, w) / chain_norm(0.2, 0.6, 1), 2) for w in (1, 2, 4, 8)]
    [1.0, 1.7, 2.83, 4.49]
    """
    if stay < 1:
        raise ValueError(f"a stay must be at least 1 round, got {stay}")
    if stay > 1 and b < max(a, 0):
        raise ValueError(
            "memory: b must be at least a and at least 0 where a person may stay more than 1 round:"
            " otherwise who changes hospital during the stay is not covered"
        )
    lags = np.arange(1, stay)
    together = b ** (lags - 1.0) * (b - a) * (1 - a * b) / (1 - b**2)
    own = 1 + (b - a) ** 2 / (1 - b**2)
    return float(np.sqrt(stay * own + 2 * ((stay - lags) * together).sum()))

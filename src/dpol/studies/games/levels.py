"""Privacy levels: their order, and which rows of the summary keep theirs."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.privacy.account import best_guess, best_guess_of_epsilon


def ordered_levels(levels: Iterable[float]) -> list[float]:
    """Return the privacy levels, from no privacy to the strictest."""
    return sorted(levels, reverse=True)


def headline_level(levels: Iterable[float]) -> float:
    """Return the level that headlines name: the middle one with noise, or `inf` without any."""
    noisy = [mu for mu in ordered_levels(levels) if mu < math.inf] or [math.inf]
    return noisy[len(noisy) // 2]


def keeps_level(rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Return whether the guarantee of a row allows no more right guesses than its level.

    An (epsilon, delta) guarantee bounds guesses less than a mu.
    """
    guesses = [
        best_guess_of_epsilon(epsilon, delta) if pd.isna(mu) else best_guess(mu)
        for mu, epsilon, delta in rows[["guaranteed_mu", "epsilon", "delta"]].to_numpy(dtype=float)
    ]
    return np.array(guesses) <= rows["mu"].map(best_guess).to_numpy() + 1e-9


def is_weaker(guaranteed: float, mu: float) -> bool:
    """Return whether a guarantee of Gaussian DP is weaker than its level; False for other ones."""
    return bool(guaranteed > mu * (1 + 1e-9))

"""RW-Meta and RW-AdaBatch as one would first write them: what the library is measured against."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
from scipy import optimize
from scipy.sparse.linalg import lobpcg

from dpol.data.stream import GainStream
from dpol.experts.batches import BOUNDS


def plain_rw_meta(
    stream: GainStream,
    noise_scale: np.ndarray,
    noisy_gains: np.ndarray,
    initial: np.ndarray,
    windows: Sequence[int],
    penalties: Sequence[float],
    exploration_floor: float,
    rng: np.random.Generator | None,
) -> tuple[np.ndarray, np.ndarray]:
    """RW-Meta as in the paper: refits, a warm-started LOBPCG for lambda_max, eigh to sample y.

    Returns:
        The (T,) actions and their raw gains in `stream`; without `rng` no y is added.
    """
    rounds, n = noisy_gains.shape
    m = len(windows) * len(penalties) + 1
    totals, covariance = np.zeros(m), np.zeros((m, m))
    warm = np.arange(1.0, m + 1)[:, None]
    played = np.empty(rounds, dtype=np.int32)
    for t in range(rounds):
        history = noisy_gains[:t]
        ridges = [_refit(history, w, p) for w in windows for p in penalties]
        actions = np.array([*ridges, (initial + history.sum(axis=0)).argmax()])
        centred = covariance - covariance.mean()
        largest, warm = _leading_eigenpair(centred, warm)
        tau = max(exploration_floor * (t + 1), largest)
        values, vectors = np.linalg.eigh(tau * np.eye(m) - centred)
        normals = rng.standard_normal(m) if rng else np.zeros(m)
        scores = totals + vectors @ (np.sqrt(np.maximum(values, 0.0)) * normals)
        played[t] = actions[scores.argmax()]
        choice = np.zeros((m, n))
        choice[np.arange(m), actions] = 1.0
        totals = totals + choice @ noisy_gains[t]
        covariance = covariance + choice @ np.diag(noise_scale[t] ** 2) @ choice.T
    return played, stream.gains[np.arange(rounds), played]


def _refit(history: np.ndarray, window: int, penalty: float) -> int:
    """Refit all experts' lines by their normal equations; the expert of the best prediction."""
    recent = history[-window:]
    if len(recent) == 0:
        return 0
    ages = np.arange(-len(recent), 0) / window
    design = np.stack([np.ones(len(recent)), ages], axis=1)
    normal = design.T @ design + np.diag([0.0, penalty])
    return int(np.linalg.solve(normal, design.T @ recent)[0].argmax())


def _leading_eigenpair(matrix: np.ndarray, warm: np.ndarray) -> tuple[float, np.ndarray]:
    """Largest eigenvalue by LOBPCG from the last round's vector; small problems go to eigh."""
    if not matrix.any():
        return 0.0, warm
    if len(matrix) < 5:
        values, vectors = np.linalg.eigh(matrix)
    else:
        with warnings.catch_warnings():
            # It warns when rounding keeps it from its tolerance; y's eigenvalues are clipped.
            warnings.simplefilter("ignore", UserWarning)
            values, vectors = lobpcg(matrix, warm, largest=True, maxiter=100)
    return float(values[-1]), vectors[:, -1:]


def adabatch_by_root_finding(
    gains: np.ndarray, initial: np.ndarray, *, alpha: float, eta: float
) -> list[int]:
    """One replicate of RW-AdaBatch as one would first write it: a root is found for every batch."""
    rounds, n = gains.shape
    total, t, actions = initial.copy(), 1, []
    while t <= rounds:
        runner_up, best = np.sort(total)[-2:]

        def excess(size: float, gap: float = best - runner_up, t: int = t) -> float:
            target = alpha * math.sqrt(math.log(n) / (t + size))
            z = np.asarray(max(gap - size, 0.0) / (eta * math.sqrt(2 * size)))
            return float(BOUNDS["borell-tis"].tail(z, n)) - target

        size = 1
        if excess(1.0) < 0:
            size = rounds if excess(rounds) < 0 else int(optimize.brentq(excess, 1.0, rounds))
        actions += [int(total.argmax())] * size
        total = total + gains[t - 1 : t - 1 + size].sum(axis=0)
        t += size
    return actions[:rounds]

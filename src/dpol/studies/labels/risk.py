"""Exact risks of mixtures, Kullback-Leibler and total variation, and selection of a hypothesis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpol.core.randomness import Floats

# Predictions that are held at once: few enough to stay in the cache.
_BLOCK = 1 << 17


@dataclass(frozen=True, eq=False)
class Risks:
    """(R, B) divergences KL(truth || prediction) in nats, and total variations."""

    kl: Floats
    tv: Floats


def round_risks(weights: Floats, masses: Floats, laws: Floats) -> Risks:
    """The risks of predicting the mixture of `masses` by `weights`.

    Args:
        weights: (R, B, K), not negative, last axis sums to 1.
        masses: (K, M), rows are distributions.
        laws: (R, M), the true distributions.

    >>> risks = round_risks(np.array([[[0.5, 0.5]]]), np.eye(2), np.array([[1.0, 0.0]]))
    >>> risks.kl.round(6).tolist(), risks.tv.tolist()
    ([[0.693147]], [[0.5]])
    """
    R, B, K = weights.shape
    M = masses.shape[1]
    positive = laws > 0
    negative_entropy = (laws * np.log(laws, out=np.zeros_like(laws), where=positive)).sum(axis=1)
    kl, tv = np.empty((R, B)), np.empty((R, B))
    step = max(1, _BLOCK // (R * M))
    for start in range(0, B, step):
        part = weights[:, start : start + step]
        rows = part.shape[1]
        predicted = (part.reshape(-1, K) @ masses).reshape(R, rows, M)
        if not positive.all():
            # Labels that cannot come add nothing to either risk, whatever is predicted there.
            predicted += ~positive[:, None]
        here = slice(start, start + rows)
        tv[:, here] = 1 - np.minimum(predicted, laws[:, None]).sum(axis=2)
        with np.errstate(divide="ignore"):
            logs = np.log(predicted, out=predicted)
        kl[:, here] = negative_entropy[:, None] - (logs @ laws[:, :, None])[:, :, 0]
    return Risks(kl, tv)


def total_variation(one: Floats, other: Floats) -> Floats:
    """Total variation between distributions along the last axis."""
    return np.asarray(np.abs(one - other).sum(axis=-1) / 2)


def average_prediction(mean_weights: Floats, masses: Floats) -> Floats:
    """The average of all predictions for a class of constants: (..., M) from (..., K), (K, M).

    Source: "Online Distribution Learning with Local Privacy Constraints", section 6.
    """
    return np.asarray(mean_weights @ masses)


def median_estimate(estimates: Floats) -> Floats:
    """Of G independent estimates (R, G, M) the one with the least median distance to all, (R, M).

    If more than half of them lie within a distance of the truth, so does this one within three
    times that distance: an expected error becomes one with high probability.
    """
    distances = total_variation(estimates[:, :, None], estimates[:, None])
    chosen = np.median(distances, axis=2).argmin(axis=1)
    return np.asarray(estimates[np.arange(len(estimates)), chosen])

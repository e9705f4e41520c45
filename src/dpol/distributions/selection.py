"""Hypothesis selection: one estimate of a fixed distribution from a learner's predictions."""

from __future__ import annotations

import numpy as np

from dpol.core.randomness import Floats
from dpol.distributions.risk import total_variation


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

"""A noise of another package: Laplace noise on counts, as small as the level of a stay allows."""

from __future__ import annotations

import numpy as np

from dpol.core.randomness import Floats
from dpol.data.stream import GainStream
from dpol.noise import Noise
from dpol.privacy.losses import Promise
from dpol.privacy.noise_laws import LAPLACE

NAME = "laplace_noise:NOISE"
"""The name by which dpol finds it."""


def strength_for(mu: float, stay: int) -> float:
    """Return the strength at which both counts of a person in each round of a stay keep mu."""
    return LAPLACE.largest(Promise(mu=mu), 2 * stay)


def scale(stream: GainStream, mu: float) -> Floats:
    """Return the standard deviations of the gains, (T, n)."""
    deviation = LAPLACE.deviation(strength_for(mu, stream.stay))
    return np.asarray(deviation * stream.count_sensitivity / stream.capacities_for("the noise"))


NOISE = Noise(
    name="laplace",
    title="√2 / (e · capacity of i)",
    origin="other",
    scale=scale,
    needs_capacities=True,
    law_name=LAPLACE.name,
)

"""Two-sided geometric noise, a law that dpol does not have, as a package would bring it."""

from __future__ import annotations

import math

import numpy as np

from dpol.noise import noise_of
from dpol.noise.event_streams import Mechanism, Release
from dpol.privacy.losses import pure
from dpol.privacy.noise_laws import Law

LAW = Law(
    name="geometric",
    words="two-sided geometric noise",
    deviation_of=lambda e: 1 / (math.sqrt(2) * math.sinh(e / 2)),
    loss_of=pure,  # e or -e, because counts are whole
)


def geometric(x, capacity, draws, epsilon, stay):
    """Release every round with two-sided geometric noise for epsilon / w."""
    one, other = np.floor(np.abs(draws[:, :2]) * (stay / epsilon)).swapaxes(0, 1)
    counts = x[:, None] + one - other
    return Release(counts=counts, spent=np.full_like(counts, epsilon / stay))


NOISE = noise_of(
    "geometric",
    Mechanism(
        title="as `laplace-uniform`, with two-sided geometric noise, for counts that stay whole",
        law=LAW,
        of_rounds=lambda e, rounds: LAW.loss(e, 2 * rounds),
        release=geometric,
        draws=2,
        most=lambda stay: 1 / stay,
        adapts=False,
        repeats=False,
    ),
)

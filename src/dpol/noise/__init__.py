"""The client side of the local model: the only door between raw and noisy gains."""

from dpol.noise.noises import (
    CAPACITY,
    CENTRAL_NOISES,
    CONSTANT,
    ISOTROPIC,
    NO_NOISE,
    NOISES,
    WORST_CASE,
    Noise,
    is_ours,
)
from dpol.noise.noisy_gains import NoisyGains, noise_scale, privatize

__all__ = [
    "CAPACITY",
    "CENTRAL_NOISES",
    "CONSTANT",
    "ISOTROPIC",
    "NOISES",
    "NO_NOISE",
    "WORST_CASE",
    "Noise",
    "NoisyGains",
    "is_ours",
    "noise_scale",
    "privatize",
]

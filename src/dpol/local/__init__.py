"""The client side of the local model: the only door between raw and noisy values."""

from dpol.local.noisy_gains import CALIBRATIONS, NoisyGains, noise_scale, privatize

__all__ = ["CALIBRATIONS", "NoisyGains", "noise_scale", "privatize"]

"""The client side of the local model: the only door between raw and noisy values."""

from dpol.noise.noisy_gains import NOISES, NoisyGains, noise_scale, privatize

__all__ = ["NOISES", "NoisyGains", "noise_scale", "privatize"]

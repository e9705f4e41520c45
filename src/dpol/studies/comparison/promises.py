"""The promises at which noises are compared."""

from __future__ import annotations

from dpol.privacy.gaussian_dp import delta_of_epsilon, epsilon_of_delta
from dpol.privacy.losses import Promise

SAME, GUESS, EPSILON, PURE = "mu", "guess", "epsilon", "pure"
"""Promises: mu-GDP; its best guess of an attacker, its epsilon at delta, or this with delta = 0."""


def promises_of(mu: float, delta: float) -> dict[str, Promise]:
    """Return the promises of Gaussian noise at mu, and the one that no Gaussian noise keeps."""
    epsilon = epsilon_of_delta(delta, mu)
    return {
        SAME: Promise(mu=mu),
        GUESS: Promise(delta=float(delta_of_epsilon(0.0, mu))),
        EPSILON: Promise(epsilon=epsilon, delta=delta),
        PURE: Promise(epsilon=epsilon),
    }

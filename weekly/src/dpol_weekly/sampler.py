"""Integer Gaussian noise, exact, from a generator that the operating system seeds.

The distribution is the discrete Gaussian: P(k) proportional to exp(-k^2 / (2 scale^2)) over all
integers k (Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy"). Noise
added in floating point is not Gaussian in its last bits, and those can give the value away; noise
added to integers has no last bits.

A value moved by a shift is shift / (scale - 1)-GDP: slightly above the shift / scale of continuous
noise. Proof: the best tests of a shift are thresholds m, their errors P(Y >= m) = Phi(-z_m) and
1 - Phi(-z_(m - shift)), and G_mu is convex, so it is enough that z_m - z_(m - shift) <= mu for all
m. No z_m - z_(m-1) exceeds the one at the centre, z_1 - z_0 = 2 Phi^-1((1 + P(0)) / 2), about
(1 + 1 / (24 scale^2)) / scale (computed, not proved: the tests go through all m at small scales
and far into the tails at large ones), which is below 1 / (scale - 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


class NoiseSampler(Protocol):
    """A source of noise."""

    def discrete_gaussian(self, scale: int, size: int) -> list[int]:
        """Return independent draws with scale `scale`.

        A scale of `CountNoise` is below 2^53: a float holds it, and no draw comes near the ends of
        64 bits.
        """


@dataclass(frozen=True)
class SecureNoise:
    """Exact noise drawn by OpenDP; it cannot be repeated.

    Its generator is cryptographic, and seeded by the operating system.
    """

    def discrete_gaussian(self, scale: int, size: int) -> list[int]:
        """See `NoiseSampler`; about 10 microseconds a draw."""
        draws: list[int] = gaussian_measurement(scale)([0] * size)
        return draws


def gaussian_measurement(scale: int) -> Any:
    """Return OpenDP's measurement that adds discrete Gaussian noise to a vector of 64-bit integers.

    It maps an L2 distance d to rho = d^2 / (2 scale^2) of zero-concentrated DP.
    """
    import opendp.prelude as opendp  # slow, and needed for releases only

    opendp.enable_features("contrib")
    integers = opendp.vector_domain(opendp.atom_domain(T=opendp.i64))
    space = integers, opendp.l2_distance(T=float)
    return opendp.m.make_gaussian(*space, scale=float(scale))

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

from dpol.core.errors import DpolError

_LARGEST_SCALE = 2**53  # All up to here are floats, and no draw comes near the ends of 64 bits.


class NoiseSampler(Protocol):
    """A source of noise."""

    def discrete_gaussian(self, scale: int, size: int) -> list[int]:
        """Return independent draws with scale `scale`, from 1 to 2^53.

        Raises:
            ValueError: the scale or the size is out of range.
        """


@dataclass(frozen=True)
class SecureNoise:
    """Exact noise drawn by OpenDP; it cannot be repeated.

    Its generator is cryptographic, and seeded by the operating system.
    """

    def discrete_gaussian(self, scale: int, size: int) -> list[int]:
        """See `NoiseSampler`; about 10 microseconds a draw.

        Raises:
            DpolError: opendp is not installed.
        """
        _check(scale, size)
        draws: list[int] = gaussian_measurement(scale)([0] * size)
        return draws


def gaussian_measurement(scale: int) -> Any:
    """Return OpenDP's measurement that adds discrete Gaussian noise to a vector of 64-bit integers.

    It maps an L2 distance d to rho = d^2 / (2 scale^2) of zero-concentrated DP.

    Raises:
        DpolError: opendp is not installed.
    """
    try:
        import opendp.prelude as opendp
    except ImportError:
        raise DpolError(
            "secure noise needs the package opendp, which cannot be imported; install dpol-weekly"
            " again"
        ) from None
    opendp.enable_features("contrib")
    integers = opendp.vector_domain(opendp.atom_domain(T=opendp.i64))
    space = integers, opendp.l2_distance(T=float)
    return opendp.m.make_gaussian(*space, scale=float(scale))


def _check(scale: int, size: int) -> None:
    if not 1 <= scale <= _LARGEST_SCALE:
        raise ValueError(f"scale must be an integer from 1 to 2^53, got {scale}")
    if size < 0:
        raise ValueError(f"size must not be negative, got {size}")

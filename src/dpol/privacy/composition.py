"""The one accountant: the privacy loss of several releases together, in logarithms.

A release of symmetric noise has a loss, the log of the ratio of the densities without and with the
person. Masses of losses are kept without the factor exp(loss / 2), so that a loss and its negative
have the same one. `log_masses` adds up the losses of several releases; no other code does.

Masses lie hundreds of thousands of digits apart, so all are logarithms. A Fourier transform keeps
the digits of the largest masses alone. Times exp(t loss), the masses near any loss become the
largest, so a few transforms with different tilts t give all masses.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats
from dpol.privacy.gaussian_dp import root

_BELIEVED = 0.05
"""Smallest mass that a transform gives with 12 digits, over its largest."""
_FEW = 4
"""Most masses that are added in logarithms: where neighbours are far apart, no tilt has both."""


def log_masses(one: Floats, releases: int) -> Floats:
    """Return the log masses of the sum of independent losses of one distribution.

    Args:
        one: (n,) log masses of one loss, symmetric, on evenly spaced losses.
        releases: k, number of losses.

    Returns:
        (k (n - 1) + 1,) log masses, on losses of the same spacing.

    Raises:
        ArithmeticError: no tilt shows some of the masses.

    >>> np.exp(log_masses(np.log([0.25, 0.5, 0.25]), 2)).round(4).tolist()
    [0.0625, 0.25, 0.375, 0.25, 0.0625]
    """
    if len(one) <= _FEW or releases == 1:
        return _added(one, releases)
    size = releases * (len(one) - 1) + 1
    length = 1 << size.bit_length()
    at, total = places(size), np.empty(size)
    tilt, known = 0.0, size // 2
    while known < size:
        tilted, log_sum = _tilted(one, tilt)
        masses = np.fft.irfft(_power(np.fft.rfft(tilted, length), releases), length)[:size]
        believed = np.flatnonzero(masses >= _BELIEVED * masses.max())
        end = int(believed[-1]) + 1
        if not believed[0] <= known < end:
            raise ArithmeticError(f"{releases} releases: no tilt shows all masses of their losses")
        logs = np.log(np.maximum(masses[known:end], np.finfo(float).tiny))
        total[known:end] = logs + releases * log_sum - tilt * at[known:end]
        known = end
        if known < size:
            tilt = _tilt_to((at[known] - 0.5) / releases, one, tilt)
    total[: size // 2] = total[::-1][: size // 2]
    return total


def _added(one: Floats, releases: int) -> Floats:
    total = one
    for _ in range(releases - 1):
        shifted = np.full((len(one), len(total) + len(one) - 1), -math.inf)
        for place, log_mass in enumerate(one):
            shifted[place, place : place + len(total)] = log_mass + total
        total = np.logaddexp.reduce(shifted)
    return total


def places(count: int) -> Floats:
    """Return the (n,) places of losses around the loss 0, in steps."""
    return np.arange(count, dtype=float) - (count - 1) / 2


def _tilted(one: Floats, tilt: float) -> tuple[Floats, float]:
    """Return the (n,) masses times exp(tilt place), over their sum; and the log of this sum."""
    logs = one + tilt * places(len(one))
    masses = np.exp(logs - logs.max())
    return masses / masses.sum(), float(logs.max() + math.log(masses.sum()))


def _tilt_to(mean: float, one: Floats, tilt: float) -> float:
    """Return the tilt, larger than `tilt`, at which one loss has a mean place."""

    def missing(tilt: float) -> float:
        return float(_tilted(one, tilt)[0] @ places(len(one))) - mean

    high = tilt + 1
    while missing(high) < 0:
        high = 2 * high
    return root(missing, tilt, high)


def _power(values: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    result = values
    for digit in f"{exponent:b}"[1:]:
        result = result * result * values if digit == "1" else result * result
    return result

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
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats
from dpol.privacy.gaussian_dp import root

Masses = tuple[Floats, int]
"""Log masses of a loss, and how many there are of it."""
BELIEVED = {1e-12: (0.05, 1e-4), 1e-8: (1e-6, 1e-6), 1e-4: (1e-10, 1e-10)}
"""Smallest mass at which a tilt ends, and before it, by the relative error; over the largest."""
_FEW = 4
"""Most masses that are added in logarithms: where neighbours are far apart, no tilt has both."""


def log_masses(parts: Sequence[Masses], error: float = 1e-12) -> Floats:
    """Return the log masses of the sum of independent losses.

    Args:
        parts: (n,) log masses of a loss, symmetric, on evenly spaced losses; and how many there are
            of it. All have the same spacing.
        error: relative error of the masses, one of `BELIEVED`. Where a sum has peaks, such as that
            of draws that happen seldom, only a larger error shows the masses between them.

    Returns:
        (the sum of k (n - 1) + 1,) log masses, on losses of the same spacing.

    Raises:
        ArithmeticError: no tilt shows some of the masses.

    >>> np.exp(log_masses([(np.log([0.25, 0.5, 0.25]), 2)])).round(4).tolist()
    [0.0625, 0.25, 0.375, 0.25, 0.0625]
    """
    few = [(one, count) for one, count in parts if np.isfinite(one).sum() <= _FEW]
    many = [(one, count) for one, count in parts if np.isfinite(one).sum() > _FEW]
    total = _transformed(many, BELIEVED[error])
    for one, count in few:
        for _ in range(count):
            total = _added(one, total)
    return total


def _transformed(parts: Sequence[Masses], believed: tuple[float, float]) -> Floats:
    if sum(count for _, count in parts) <= 1:
        return parts[0][0] if parts else np.zeros(1)
    size = sum(count * (len(one) - 1) for one, count in parts) + 1
    length = 1 << size.bit_length()
    at, total = places(size), np.empty(size)
    tilt, known = 0.0, size // 2
    while known < size:
        product, log_sum = np.ones(length // 2 + 1, dtype=complex), 0.0
        for one, count in parts:
            tilted, log_one = _tilted(one, tilt)
            product *= _power(np.fft.rfft(tilted, length), count)
            log_sum += count * log_one
        masses = np.fft.irfft(product, length)[:size]
        last, least = (part * masses.max() for part in believed)
        end = 1 + int(np.flatnonzero(masses >= last)[-1])
        if end <= known or masses[known:end].min() < least:
            raise ArithmeticError("no tilt shows all masses of a sum of losses")
        logs = np.log(np.maximum(masses[known:end], np.finfo(float).tiny))
        total[known:end] = logs + log_sum - tilt * at[known:end]
        known = end
        if known < size:
            tilt = _tilt_to(at[known] - 0.5, parts, tilt)
    total[: size // 2] = total[::-1][: size // 2]
    return total


def _added(one: Floats, total: Floats) -> Floats:
    finite = np.flatnonzero(np.isfinite(one))
    shifted = np.full((len(finite), len(total) + len(one) - 1), -math.inf)
    for row, place in enumerate(finite):
        shifted[row, place : place + len(total)] = one[place] + total
    return np.asarray(np.logaddexp.reduce(shifted))


def places(count: int) -> Floats:
    """Return the (n,) places of losses around the loss 0, in steps."""
    return np.arange(count, dtype=float) - (count - 1) / 2


def _tilted(one: Floats, tilt: float) -> tuple[Floats, float]:
    """Return the (n,) masses times exp(tilt place), over their sum; and the log of this sum."""
    logs = one + tilt * places(len(one))
    masses = np.exp(logs - logs.max())
    return masses / masses.sum(), float(logs.max() + math.log(masses.sum()))


def _tilt_to(mean: float, parts: Sequence[Masses], tilt: float) -> float:
    """Return the tilt, larger than `tilt`, at which the sum of the losses has a mean place."""

    def missing(tilt: float) -> float:
        means = (count * float(_tilted(one, tilt)[0] @ places(len(one))) for one, count in parts)
        return sum(means) - mean

    high = tilt + 1
    while missing(high) < 0:
        high = 2 * high
    return root(missing, tilt, high)


def _power(values: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    result = values
    for digit in f"{exponent:b}"[1:]:
        result = result * result * values if digit == "1" else result * result
    return result

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
BELIEVED = {1e-12: (0.05, 1e-4), 1e-8: (1e-6, 1e-6), 1e-4: (1e-10, 1e-10), 1e-2: (1e-13, 1e-13)}
"""Smallest mass at which a tilt ends, and before it, by the relative error; over the largest."""
_SMALL = 2**14
"""Most masses that are transformed together; of more, those near the mean of a tilt."""
_MOST = 2**22
"""Most masses of all transforms of a sum; only seldom and large losses need more, in vain."""
_OUTSIDE = 45.0
"""Minus the log of the share of masses that are so far from the mean."""


def log_masses(parts: Sequence[Masses], error: float = 1e-12, reach: int = 2**62) -> Floats:
    """Return the log masses of the sum of independent losses.

    Args:
        parts: (n,) log masses of a loss, symmetric, on evenly spaced losses; and how many there are
            of it. All have the same spacing.
        error: relative error of the masses, one of `BELIEVED`. Where a sum has peaks, such as that
            of draws that happen seldom, only a larger error shows the masses between them.
        reach: steps on either side of 0 that are needed.

    Returns:
        (the sum of k (n - 1) + 1,) log masses, on losses of the same spacing; those within reach.

    Raises:
        ArithmeticError: no tilt shows some of the masses, or only very many transforms do.

    >>> np.exp(log_masses([(np.log([0.25, 0.5, 0.25]), 2)])).round(4).tolist()
    [0.0625, 0.25, 0.375, 0.25, 0.0625]
    """
    if sum(count for _, count in parts) <= 1:
        return parts[0][0] if parts else np.zeros(1)
    size = sum(count * (len(one) - 1) for one, count in parts) + 1
    middle = size // 2
    reach = min(reach, middle)
    at, total = places(size), np.empty(size)
    tilt, known, stop, transformed = 0.0, middle, middle + reach + 1, 0
    while known < stop:
        length = _window(parts, tilt, size)
        transformed += length
        if transformed > _MOST:
            raise ArithmeticError("only very many transforms show all masses of a sum of losses")
        product, log_sum = np.ones(length // 2 + 1, dtype=complex), 0.0
        for one, count in parts:
            tilted, log_one = _tilted(one, tilt)
            product *= _power(np.fft.rfft(_folded(tilted, length), length), count)
            log_sum += count * log_one
        first = 0 if length > size else max(0, known - length // 2)
        masses = np.roll(np.fft.irfft(product, length), -first)[: size - first]
        last, least = (part * masses.max() for part in BELIEVED[error])
        seen = known - first
        end = 1 + int(np.flatnonzero(masses >= last)[-1])
        if end <= seen or masses[seen:end].min() < least:
            raise ArithmeticError("no tilt shows all masses of a sum of losses")
        logs = np.log(np.maximum(masses[seen:end], np.finfo(float).tiny))
        end += first
        total[known:end] = logs + log_sum - tilt * at[known:end]
        known = end
        if known < stop:
            tilt = _tilt_to(at[known] - 0.5, parts, tilt)
    total[:middle] = total[::-1][:middle]
    return total[middle - reach : stop]


def _window(parts: Sequence[Masses], tilt: float, size: int) -> int:
    """Return a length of transforms that has hardly any masses of the tilted sum outside.

    They are bounded by moments of exp(s place), with s for the deviation of the sum.
    """
    if size <= _SMALL:
        return 1 << size.bit_length()
    mean = variance = 0.0
    for one, count in parts:
        masses = _tilted(one, tilt)[0]
        own = _mean(masses)
        mean += count * own
        variance += count * float((masses * (places(len(one)) - own) ** 2).sum())
    far = 0.0
    for s in np.array([-9.0, 9.0]) / math.sqrt(variance):
        moved = sum(count * (_log_sum(one, tilt + s) - _log_sum(one, tilt)) for one, count in parts)
        far = max(far, (_OUTSIDE + moved - s * mean) / abs(s))
    return 1 << min(math.ceil(2 * far), size).bit_length()


def _mean(masses: Floats) -> float:
    # A product of vectors would start threads, which cost more than it does.
    return float((masses * places(len(masses))).sum())


def _log_sum(one: Floats, tilt: float) -> float:
    return _tilted(one, tilt)[1]


def _folded(masses: Floats, length: int) -> Floats:
    """Return masses with those beyond a length added to those at its beginning."""
    if len(masses) <= length:
        return masses
    rows = -(len(masses) // -length)
    padded = np.pad(masses, (0, rows * length - len(masses)))
    return np.asarray(padded.reshape(rows, -1).sum(axis=0))


def lattice_masses(ends: float, middle: float, count: int) -> Floats:
    """Return the (2 count + 1,) log masses of a sum of losses that are a step, 0 or minus a step.

    The number of ways to each sum follows from those to the two before, by positive terms only:
    (1 + r x + x^2)^n has a derivative of n (r + 2 x) / (1 + r x + x^2) times itself.

    Args:
        ends: log mass of a step, and of minus a step.
        middle: log mass of 0; -inf for none.
        count: n, the number of losses.

    >>> np.exp(lattice_masses(math.log(0.25), math.log(0.5), 2)).round(4).tolist()
    [0.0625, 0.25, 0.375, 0.25, 0.0625]
    """
    half = np.zeros(count + 1)
    ratio = middle - ends
    if ratio == -math.inf:
        half[1::2] = -math.inf
        pairs = np.arange(1, count // 2 + 1)
        half[2::2] = np.cumsum(np.log((count - pairs + 1) / pairs))
    else:
        rise = math.inf  # log of a number of ways over the one before
        for j in range(1, count + 1):
            one = ratio + math.log((count - j + 1) / j)
            other = math.log((2 * count - j + 2) / j) - rise
            rise = max(one, other) + math.log1p(math.exp(-abs(one - other)))
            half[j] = half[j - 1] + rise
    half += count * ends
    return np.concatenate([half, half[-2::-1]])


def spread(logs: Floats, own: float, step: float) -> Floats:
    """Return the log masses on a grid of another step, which keep both likelihood ratios.

    Args:
        logs: (2 k + 1,) symmetric log masses, on losses with the spacing `own`.
        own: their spacing.
        step: the spacing of the returned masses.
    """
    k = len(logs) // 2
    losses = own * np.arange(k + 1) / step
    below = np.floor(losses + 1e-9)
    over = np.clip(losses - below, 0.0, 1.0)
    half = np.full(int(below[-1]) + 2, -math.inf)
    starts = np.flatnonzero(np.diff(below, prepend=-1.0))
    at, right = below[starts].astype(int), logs[k:].copy()
    right[0] -= math.log(2)  # from both sides
    with np.errstate(divide="ignore"):
        for to, share in ((at, 1 - over), (at + 1, over)):
            part = (share - 1) * step / 2 + np.log(np.expm1(-share * step) / math.expm1(-step))
            part[share < 1e-9] = -math.inf
            half[to] = np.logaddexp(half[to], np.logaddexp.reduceat(right + part, starts))
    half[0] += math.log(2)
    half = half[: 1 + int(np.flatnonzero(np.isfinite(half))[-1])]
    return np.concatenate([half[:0:-1], half])


def added(one: Floats, other: Floats) -> Floats:
    """Return the log masses of the sum of two losses, by the masses of the one with more gaps."""
    few, many = sorted((one, other), key=lambda it: float(np.isfinite(it).mean()))
    total = np.full(len(few) + len(many) - 1, -math.inf)
    for place in np.flatnonzero(np.isfinite(few)):
        reached = total[place : place + len(many)]
        np.logaddexp(reached, few[place] + many, out=reached)
    return total


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
        return sum(count * _mean(_tilted(one, tilt)[0]) for one, count in parts) - mean

    high = tilt + 1
    while missing(high) < 0:
        high = 2 * high
    return root(missing, tilt, high)


def _power(values: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    result = values
    for digit in f"{exponent:b}"[1:]:
        result = result * result * values if digit == "1" else result * result
    return result

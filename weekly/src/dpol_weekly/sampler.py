"""Exact integer Gaussian noise from a stream of uniform integers; no floating point.

The distribution is the discrete Gaussian: P(k) proportional to exp(-k^2 / (2 scale^2)) over all
integers k, drawn as algorithms 1 to 3 of Canonne, Kamath and Steinke, "The Discrete Gaussian for
Differential Privacy" (2020), describe. The stream is HMAC-SHA512 in counter mode, so equal keys
give equal noise, and to whoever lacks the key it is as fresh as coins.

A value moved by a shift is shift / (scale - 1)-GDP: slightly above the shift / scale of continuous
noise. Proof: the best tests of a shift are thresholds m, their errors P(Y >= m) = Phi(-z_m) and
1 - Phi(-z_(m - shift)), and G_mu is convex, so it is enough that z_m - z_(m - shift) <= mu for all
m. No z_m - z_(m-1) exceeds the one at the centre, z_1 - z_0 = 2 Phi^-1((1 + P(0)) / 2), about
(1 + 1 / (24 scale^2)) / scale (computed, not proved: the tests go through all m at small scales
and far into the tails at large ones), which is below 1 / (scale - 1).
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from itertools import count


def discrete_gaussian(key: bytes, scale: int) -> int:
    """Return the draw of a key; about 50 microseconds.

    Args:
        key: 64 bytes, another one for each draw.
        scale: at least 1.
    """
    bits = _bits(key)
    width = scale + 1
    while True:
        draw = _laplace(bits, width)
        # exp(-(|draw| - scale^2 / width)^2 / (2 scale^2)), in integers
        distance = (abs(draw) * width - scale * scale) ** 2
        if _happens(bits, distance, 2 * (scale * width) ** 2):
            return draw


def _bits(key: bytes) -> Iterator[int]:
    for number in count():
        block = hmac.digest(key, number.to_bytes(8), "sha512")
        yield from map(int, f"{int.from_bytes(block):0512b}")


def _below(bits: Iterator[int], limit: int) -> int:
    """Return a uniform integer from 0 to limit - 1: too large ones are drawn again."""
    while True:
        number = 0
        for _ in range((limit - 1).bit_length()):
            number = 2 * number + next(bits)
        if number < limit:
            return number


def _happens(bits: Iterator[int], above: int, below: int) -> bool:
    """Return True with probability exp(-above / below)."""
    while above > below:
        if not _happens(bits, 1, 1):
            return False
        above -= below
    # Of falling chances r, r / 2, r / 3, ... the number that come true in a row is even with
    # probability exp(-r).
    tries = 1
    while _below(bits, below * tries) < above:
        tries += 1
    return tries % 2 == 1


def _laplace(bits: Iterator[int], width: int) -> int:
    """Return discrete Laplace noise: P(k) proportional to exp(-|k| / width)."""
    while True:
        rest = _below(bits, width)
        if not _happens(bits, rest, width):
            continue
        whole = 0
        while _happens(bits, 1, 1):
            whole += 1
        size, negative = rest + whole * width, _below(bits, 2)
        if size or not negative:
            return -size if negative else size

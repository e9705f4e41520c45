"""Noise from a secret: an exact discrete Gaussian draw that is a function of what is released.

The same fields give the same noise, so a table that is released again, from a restored or copied
folder too, is the same table. Other fields, another count among them, give noise that is
independent to whoever lacks the secret.

The law is P(k) proportional to exp(-k^2 / (2 scale^2)) over all integers k, drawn as algorithms 1
to 3 of Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (2020),
describe, from integers only. The coins are HMAC-SHA512 in counter mode.

A value moved by a shift is shift / (scale - 1)-GDP: slightly above the shift / scale of continuous
noise. Proof: the best tests of a shift are thresholds m, their errors P(Y >= m) = Phi(-z_m) and
1 - Phi(-z_(m - shift)), and G_mu is convex, so it is enough that z_m - z_(m - shift) <= mu for all
m. No z_m - z_(m-1) exceeds the one at the centre, z_1 - z_0 = 2 Phi^-1((1 + P(0)) / 2), about
(1 + 1 / (24 scale^2)) / scale (computed, not proved: the tests go through all m at small scales
and far into the tails at large ones), which is below 1 / (scale - 1).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.files import read_private, write_private

SECRET_BYTES = 32
_LEAST_DIFFERENT = 16
"""Least number of different bytes. Random ones have fewer with a probability of 3e-17; the zeros
that a power cut leaves have one."""


def make_secret(path: Path) -> None:
    """Write a new secret that nobody else can read.

    Raises:
        OutputError: the file exists, or cannot be written.
    """
    write_private(path, secrets.token_bytes(SECRET_BYTES))


def read_secret(path: Path, *, lost: str) -> bytes:
    """Return the secret in a file, 32 bytes.

    Args:
        path: the file.
        lost: for messages, what to do if the secret is lost or somebody else has seen it.

    Raises:
        DataError: the file cannot be read, others can read it, or it holds no secret.
    """
    found = read_private(path, "secret", lost=lost)
    if len(found) != SECRET_BYTES or len({*found}) < _LEAST_DIFFERENT:
        raise DataError(
            f"{path}: is not a secret of dpol: those have {SECRET_BYTES} random bytes; put it back,"
            f" or if it is lost for good, {lost}"
        )
    return found


def key_of(secret: bytes, *fields: str | int) -> bytes:
    """Return 64 bytes, HMAC-SHA512 of all fields, each with its length in front."""
    texts = [str(it).encode() for it in fields]
    message = b"".join(len(it).to_bytes(8) + it for it in texts)
    return hmac.digest(secret, message, hashlib.sha512)


def keyed_noise(
    secret: bytes,
    purpose: Sequence[str | int],
    *,
    place: str,
    period: str,
    version: int,
    steps: int,
    scale: int,
) -> int:
    """Return the noise of one released number, in steps of its grid.

    Args:
        secret: 32 random bytes that only the owner has.
        purpose: what sets this release apart from others of the same secret: its name, the length
            of its periods, its grid. Other purposes give independent noise.
        place: the place, by a name that stays when the table renames it.
        period: first day of the period.
        version: number of the release of this place and period, from 1.
        steps: the number before noise. It is part of the key, since two numbers with equal noise
            would show their difference.
        scale: scale of the noise, at least 1.

    >>> row = {"place": "north", "period": "2024-01-01", "version": 1, "scale": 2_828_429}
    >>> one, same, other = (keyed_noise(b"k" * 32, ["beds"], steps=n, **row) for n in (7, 7, 8))
    >>> one == same, one == other
    (True, False)
    """
    fields = "dpol discrete Gaussian 1", scale, *purpose, place, period, version, steps
    return discrete_gaussian(key_of(secret, *fields), scale)


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

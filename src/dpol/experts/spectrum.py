"""The largest eigenvalue of many learners' centred covariances at once, and their factors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats

# From so many learners on, a few Lanczos steps cost less than powers of whole matrices.
_LANCZOS_FROM = 20
_STEPS = 12

# With fewer, a vector is multiplied by Sigma* 4 * 128 times, by squares of squares; residuals
# above this, relative to Sigma, are not small.
_SQUARINGS = 7
_APPLICATIONS = 3
_RESIDUAL = 1e-8

# Couplings below this, relative to Sigma, are rounding: the Krylov space is exhausted.
_NOTHING = 1e-14

# Error of a Ritz value, relative to Sigma, above which all eigenvalues are computed.
_TOLERANCE = 1e-13


def largest_eigenvalues(star: Floats, size: Floats) -> Floats:
    """lambda_max of matrices Sigma*, or at most 1e-12 size below it.

    With few learners the Rayleigh quotient of a power of Sigma*, with many a Ritz value after
    `_STEPS` steps of Lanczos' method (Parlett, "The Symmetric Eigenvalue Problem", chapters 4
    and 13). Neither is ever above lambda_max; where its residual is not small, all eigenvalues
    are computed. A small residual does not tell that an eigenvalue is the largest one, so the
    values are to be confirmed by a factor of lambda I - Sigma* (`cholesky_factors`), or else
    computed by `all_eigenvalues`.

    Args:
        star: (R, m, m) Sigma* as of `centred`.
        size: (R,) largest row sums of Sigma, which bound the eigenvalues.
    """
    few = star.shape[-1] < _LANCZOS_FROM
    largest, unsure = (_by_powers if few else _by_lanczos)(star, size)
    if unsure.any():
        largest[unsure] = all_eigenvalues(star[unsure])
    return largest


def _by_powers(star: Floats, size: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Rayleigh quotients of Sigma*, and where they may miss its largest eigenvalue."""
    least = np.finfo(np.float64).tiny
    power = star / np.maximum(np.sqrt(square_sums(star)), least)[:, None, None]
    for _ in range(_SQUARINGS):
        power = power @ power
    # The largest diagonal entry belongs to a unit vector with a part of a leading eigenvector.
    diagonal = power.diagonal(axis1=1, axis2=2)
    vectors = power[np.arange(len(power)), diagonal.argmax(axis=1)]
    inverse = 1.0 / np.maximum(diagonal.sum(axis=1), least)[:, None]
    for _ in range(_APPLICATIONS):
        vectors = _times(power, vectors) * inverse
    vectors /= np.maximum(np.sqrt(np.vecdot(vectors, vectors)), least)[:, None]
    ahead = _times(star, vectors)
    largest: Floats = np.vecdot(vectors, ahead)
    rest = ahead - largest[:, None] * vectors
    residual = np.sqrt(np.vecdot(rest, rest))
    # The quotient misses by at most the squared residual over the distance to the others.
    return largest, residual > _RESIDUAL * size


def _by_lanczos(star: Floats, size: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Ritz values of Sigma*, and where they may miss its largest eigenvalue."""
    diagonal, coupling = _lanczos(star, size)
    steps = np.arange(_STEPS)
    projected = np.zeros((len(star), _STEPS, _STEPS))
    projected[:, steps, steps] = diagonal
    projected[:, steps[1:], steps[:-1]] = coupling[:, :-1]
    values, vectors = np.linalg.eigh(projected)
    residual = coupling[:, -1] * np.abs(vectors[:, -1, -1])
    # A Ritz value misses by at most the squared residual over the distance to the others.
    apart = values[:, -1] - values[:, -2]
    return values[:, -1].copy(), residual**2 > _TOLERANCE * size * apart


def all_eigenvalues(star: Floats) -> Floats:
    """(R,) lambda_max of (R, m, m) Sigma*, by way of all eigenvalues."""
    return np.asarray(np.linalg.eigvalsh(star)[:, -1])


def centred(covariance: Floats) -> tuple[Floats, Floats]:
    """Sigma* = Sigma - (1' Sigma 1 / m^2) 1 1', and the (R,) largest row sums of Sigma.

    Args:
        covariance: (R, m, m) Sigma, symmetric, positive semi-definite, no negative entry.
    """
    m = covariance.shape[-1]
    rows = covariance @ np.ones(m)
    return covariance - (rows.sum(axis=1) / m**2)[:, None, None], rows.max(axis=1)


def square_sums(matrices: Floats) -> Floats:
    """(R,) squared Frobenius norms of (R, m, m) matrices."""
    flat = matrices.reshape(len(matrices), -1)
    return np.asarray(np.vecdot(flat, flat))


def _times(matrices: Floats, vectors: Floats) -> Floats:
    """(R, m) products of matrices and vectors."""
    return np.asarray((matrices @ vectors[:, :, None])[:, :, 0])


def cholesky_factors(matrices: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Lower factors of symmetric (R, m, m) matrices, and which of them are not positive definite.

    The factor of a matrix that is not positive definite is zero.
    """
    try:
        return np.asarray(np.linalg.cholesky(matrices)), np.zeros(len(matrices), dtype=np.bool_)
    except np.linalg.LinAlgError:
        if len(matrices) == 1:
            return np.zeros_like(matrices), np.ones(1, dtype=np.bool_)
    # NumPy does not say which one it was.
    half = len(matrices) // 2
    parts = [cholesky_factors(part) for part in (matrices[:half], matrices[half:])]
    factors, wrong = zip(*parts, strict=True)
    return np.concatenate(factors), np.concatenate(wrong)


def _lanczos(star: Floats, size: Floats) -> tuple[Floats, Floats]:
    """Diagonal and coupling, (R, _STEPS) each, of Sigma* projected on a Krylov space.

    The coupling of column j joins steps j and j + 1. Every step is made orthogonal to all
    earlier ones. An exhausted space goes on with zeros, which add eigenvalues 0 to the
    projection: lambda_max(Sigma*) is never below 0, because 1' Sigma* 1 = 0.
    """
    replicates, m, _ = star.shape
    basis = np.zeros((replicates, _STEPS + 1, m))
    diagonal, coupling = np.zeros((2, replicates, _STEPS))
    heaviest = star.sum(axis=2).argmax(axis=1)
    basis[:, 0] = _unit(star[np.arange(replicates), heaviest], size)[0]
    for j in range(_STEPS):
        ahead = _times(star, basis[:, j])
        known = basis[:, : j + 1]
        shares = np.matmul(known, ahead[:, :, None])
        ahead -= np.matmul(known.transpose(0, 2, 1), shares)[:, :, 0]
        diagonal[:, j] = shares[:, j, 0]
        basis[:, j + 1], coupling[:, j] = _unit(ahead, size)
    return diagonal, coupling


def _unit(vectors: Floats, size: Floats) -> tuple[Floats, Floats]:
    """(R, m) vectors of length 1 and their lengths before; both zero where there is nothing."""
    length = np.sqrt((vectors * vectors).sum(axis=1))
    length[length <= _NOTHING * size] = 0.0
    inverse = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    return vectors * inverse[:, None], length

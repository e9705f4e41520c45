"""Other packages on the same work, from `requirements/peers.txt`."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import numpy as np
from machine import Measured, cpu_seconds

from dpol.data.synthetic import synthetic_stream
from dpol.noise import privatize
from dpol.privacy.matrix_mechanism import prefix_sums_times

# At the end: the folder holds a package `tests` too.
sys.path.append(str(Path(sys.prefix) / "peers"))
os.environ["JAX_ENABLE_X64"] = "1"


def time_peers() -> list[Measured]:
    """Measure the noise of a replicate, and of noisy prefix sums, against other packages."""
    return [_noise(148, 293), _sums(3_000, 300)]


def _noise(T: int, n: int) -> Measured:
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    numbers = opendp.vector_domain(opendp.atom_domain(T=float, nan=False), size=(T + 1) * n)
    theirs = opendp.m.make_gaussian(numbers, opendp.l2_distance(T=float), scale=np.sqrt(n))
    stream, gains = synthetic_stream("peers", np.zeros((T, n))), np.zeros((T + 1) * n)
    for drawn in (theirs(gains), privatize(stream, "isotropic", 1.0, seed=1, replicates=1).gains):
        assert 0.98 < np.std(drawn) / np.sqrt(n) < 1.02, "the two draw other noise"
    ours = partial(privatize, stream, "isotropic", 1.0, seed=1, replicates=20)
    ratio = cpu_seconds(partial(theirs, gains), 1) / (cpu_seconds(ours) / 20)
    return Measured(f"opendp over Gaussian noise, {T} x {n} (opendp draws exactly)", ratio, least=1)


def _sums(T: int, d: int) -> Measured:
    import jax
    from jax_privacy.matrix_factorization import toeplitz

    noising = toeplitz.optimal_max_error_noising_coefs(T)
    squares = toeplitz.optimal_max_error_strategy_coefs(T) ** 2
    norms = jax.numpy.sqrt(squares.cumsum())[::-1, None]
    column = partial(toeplitz.multiply, noising, skip_checks=True)
    theirs = jax.jit(lambda draws: (norms * jax.vmap(column, 1, 1)(draws)).cumsum(axis=0))
    draws = np.random.default_rng(1).standard_normal((T, d))
    # This call also compiles.
    np.testing.assert_allclose(theirs(draws), prefix_sums_times(draws), atol=1e-9)
    ratio = cpu_seconds(lambda: np.asarray(theirs(draws)), 1) / cpu_seconds(
        partial(prefix_sums_times, draws)
    )
    return Measured(f"jax-privacy over noise on prefix sums, {T} x {d}", ratio, least=1)

"""What dpol draws is what it declares: deviation, law and independence.

Each test is also given noise with a fault, and must refuse it.
"""

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from dpol.noise import NOISES, privatize
from laplace_noise import NAME

GAMES, ROUNDS, PLACES = 8000, 4, 4
LIMIT = math.sqrt(2 * math.log(2e12) / GAMES)
"""A mean of as many signs is farther from its expectation with probability 1e-12."""
FRESH = [*(name for name, noise in NOISES.items() if noise.memory == "none"), NAME]
"""Noises whose releases say nothing of each other."""
LEVELS = (0.1, 1), (0.25, 1), (1.0, 3), (10.0, 1)
"""Levels and stays."""


def stream_of(random_stream, stay=1):
    stream = random_stream(ROUNDS, PLACES)
    beds = np.broadcast_to(stream.capacity[0], stream.gains.shape)
    return dataclasses.replace(stream, capacity=beds, stay=stay, label="draws")


def residuals(stream, name, mu):
    """Return noise over its declared deviation, (games, rounds, places), the initial one first."""
    noisy = privatize(stream, name, mu, seed=1, replicates=GAMES)
    z = (noisy.gains - stream.gains) / noisy.noise_scale
    return np.concatenate([noisy.initial[:, None] / noisy.noise_scale[0], z], axis=1)


def wrong_size(z):
    """Return whether mean or mean square are not those of noise of deviation 1, in any cell.

    Limits are 8 standard errors.
    """
    for part in (z.reshape(len(z), -1), z.reshape(-1, 1)):
        error = 8 / math.sqrt(len(part))
        if (np.abs(part.mean(axis=0)) > error).any():
            return True
        if (np.abs((part**2).mean(axis=0) - 1) > error * (part**2).std(axis=0)).any():
            return True
    return False


def dependent(z):
    """Return whether signs or sizes of two cells, or signs of three, depend on each other."""
    z = z.reshape(len(z), -1)
    signs = np.where(z > 0, 1.0, -1.0)
    sizes = np.where(np.abs(z) > np.median(np.abs(z), axis=0), 1.0, -1.0)
    both = np.hstack([signs, sizes])
    pairs = np.abs(both.T @ both / len(z)) - np.eye(both.shape[1])
    one, other = np.triu_indices(z.shape[1], k=1)
    products = signs[:, one] * signs[:, other]
    triples = np.abs(products.T @ both / len(z))
    known = (one[:, None] == np.arange(both.shape[1])) | (
        other[:, None] == np.arange(both.shape[1])
    )
    return pairs.max() > 1.2 * LIMIT or triples[~known].max() > 1.2 * LIMIT


def size_of_first(z):
    """At place 1, the size of the noise of place 0, with a sign of its own."""
    made = z.copy()
    made[..., 1] = np.copysign(z[..., 0], z[..., 1])
    return made


def product_of_signs(z):
    """At place 2, the product of the signs at places 0 and 1."""
    made = z.copy()
    made[..., 2] = np.abs(z[..., 2]) * np.sign(z[..., 0] * z[..., 1])
    return made


DEPENDENT = {
    "the size at another place": size_of_first,
    "the product of two signs": product_of_signs,
    "one draw for two places": lambda z: z[..., [0, 0, 2, 3]],
    "last round's draw again": lambda z: z[:, [0, 1, 1, 3, 3]],
    "the initial draw again": lambda z: z[:, [0, 0, 2, 3, 4]],
    "the mean of places is 0": lambda z: z - z.mean(axis=2, keepdims=True),
}
WRONG_SIZE = {
    "0.9 of the noise": lambda z: 0.9 * z,
    "none in the last round": lambda z: np.append(z[:, :-1], 0 * z[:, -1:], 1),
    "never negative": np.abs,
}


@pytest.mark.parametrize("name", FRESH)
@pytest.mark.parametrize(("mu", "stay"), LEVELS)
def test_noise_has_its_deviation_and_is_independent(random_stream, name, mu, stay):
    z = residuals(stream_of(random_stream, stay), name, mu)
    assert not wrong_size(z)
    assert not dependent(z)


@pytest.mark.parametrize("fault", DEPENDENT)
def test_dependent_noise_is_seen(random_stream, fault):
    assert dependent(DEPENDENT[fault](residuals(stream_of(random_stream), NAME, 1.0)))


@pytest.mark.parametrize("fault", WRONG_SIZE)
def test_noise_of_a_wrong_size_is_seen(random_stream, fault):
    assert wrong_size(WRONG_SIZE[fault](residuals(stream_of(random_stream), NAME, 1.0)))


def refused_law(z, law):
    """Return whether draws refute a law; a right one is refuted with probability 1e-9."""
    return stats.kstest(z.ravel(), law.cdf).pvalue < 1e-9


@pytest.mark.parametrize("name", FRESH)
def test_noise_is_of_its_law(random_stream, name):
    gaussian, laplace = stats.norm(), stats.laplace(scale=math.sqrt(0.5))
    own, other = (laplace, gaussian) if name == NAME else (gaussian, laplace)
    z = residuals(stream_of(random_stream), name, 0.5)
    assert not refused_law(z, own)
    assert refused_law(z, other)
    assert refused_law(np.where(np.abs(z) < 0.075, 0, z), own)  # none in about a draw of ten

"""What dpol draws is what it declares: deviation, law, independence, and what decisions spend.

Each test is also given faults that reviews planted in our mechanisms, and must refuse them.
"""

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from dpol.noise import NOISES, event_streams, privatize
from dpol.noise.event_streams import EVERY_ROUND, MECHANISMS
from dpol.noise.noisy_gains import released

GAMES, ROUNDS, PLACES = 8000, 4, 4
LIMIT = math.sqrt(2 * math.log(2e12) / GAMES)
"""A mean of as many signs is farther from its expectation with probability 1e-12."""
FRESH = [name for name, noise in NOISES.items() if noise.memory == "none"]
"""Noises whose releases say nothing of each other."""
LEVELS = (0.1, 1), (0.25, 1), (1.0, 3), (10.0, 1)
"""Levels and stays."""


def stream_of(random_stream, stay=1):
    stream = random_stream(ROUNDS, PLACES)
    beds = np.broadcast_to(stream.capacity[0], stream.gains.shape)
    return dataclasses.replace(stream, capacity=beds, stay=stay, label="draws")


def residuals(stream, name, mu, mechanism=None):
    """Return noise over its declared deviation, (games, rounds, places), the initial one first."""
    noisy = privatize(stream, name, mu, seed=1, replicates=GAMES)
    gains = noisy.gains
    if mechanism is not None:
        draws = released(stream, mechanism, mu, noisy.seeds.local_noise())
        gains = draws.transpose(1, 0, 2)
    z = (gains - stream.gains) / noisy.noise_scale
    if NOISES[name].mechanism is None:
        z = np.concatenate([noisy.initial[:, None] / noisy.noise_scale[0], z], axis=1)
    return z


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


def changed(change):
    """Return Laplace noise in every round with changed noise: (T, R, n), and the strength."""

    def release(x, capacity, draws, epsilon, stay):
        return x[:, None] + change(draws[:, 0] * (stay / epsilon), epsilon / stay)

    return dataclasses.replace(EVERY_ROUND, release=release)


def size_of_first(noise, e):
    """At place 1, the size of the noise of place 0, with a sign of its own."""
    made = noise.copy()
    made[..., 1] = np.copysign(noise[..., 0], noise[..., 1])
    return made


def product_of_signs(noise, e):
    """At place 2, the product of the signs at places 0 and 1."""
    made = noise.copy()
    made[..., 2] = np.abs(noise[..., 2]) * np.sign(noise[..., 0] * noise[..., 1])
    return made


DEPENDENT = {
    "the size at another place": size_of_first,
    "the product of two signs": product_of_signs,
    "one draw for two places": lambda noise, e: noise[..., [0, 0, 2, 3]],
    "last round's draw again": lambda noise, e: noise[[0, 0, 2, 2]],
    "the mean of replicates is 0": lambda noise, e: noise - noise.mean(axis=2, keepdims=True),
}
WRONG_SIZE = {
    "a strength of at least 0.12": (0.1, lambda noise, e: noise * e / max(e, 0.12)),
    "none from strength 6 on": (30.0, lambda noise, e: noise * (e < 6)),
    "0.9 of the noise": (1.0, lambda noise, e: 0.9 * noise),
    "none in one draw of ten": (1.0, lambda noise, e: noise * (np.abs(noise * e) > 0.105)),
    "none in the last round": (1.0, lambda noise, e: np.append(noise[:-1], 0 * noise[-1:], 0)),
    "never negative": (1.0, lambda noise, e: np.abs(noise)),
}


@pytest.mark.parametrize("name", FRESH)
@pytest.mark.parametrize(("mu", "stay"), LEVELS)
def test_noise_has_its_deviation_and_is_independent(random_stream, name, mu, stay):
    z = residuals(stream_of(random_stream, stay), name, mu)
    assert not wrong_size(z)
    assert not dependent(z)


@pytest.mark.parametrize("fault", DEPENDENT)
def test_dependent_noise_is_seen(random_stream, fault):
    made = changed(DEPENDENT[fault])
    assert dependent(residuals(stream_of(random_stream), "laplace-uniform", 1.0, made))


@pytest.mark.parametrize("fault", WRONG_SIZE)
def test_noise_of_a_wrong_size_is_seen(random_stream, fault):
    mu, change = WRONG_SIZE[fault]
    z = residuals(stream_of(random_stream), "laplace-uniform", mu, changed(change))
    assert wrong_size(z) or fault == "none in one draw of ten"
    if fault == "none in one draw of ten":
        assert refused_law(z, stats.laplace(scale=math.sqrt(0.5)))


def refused_law(z, law):
    """Return whether draws refute a law; a right one is refuted with probability 1e-9."""
    return stats.kstest(z.ravel(), law.cdf).pvalue < 1e-9


@pytest.mark.parametrize("name", FRESH)
def test_noise_is_of_its_law(random_stream, name):
    gaussian, laplace = stats.norm(), stats.laplace(scale=math.sqrt(0.5))
    own, other = (laplace, gaussian) if "laplace" in name else (gaussian, laplace)
    z = residuals(stream_of(random_stream), name, 0.5)
    assert not refused_law(z, own)
    assert refused_law(z, other)


# ---- what decisions and publications spend -------------------------------------------------------

EPSILON = 2.0


def decision(release, stay):
    """Return the epsilon of the decision of round 1, from the draw at which it publishes 0."""

    def published(first):
        draws = np.zeros((1, 2, 1, 1))
        draws[0, :, 0, 0] = first, 1.0
        return float(release(np.zeros((1, 1)), np.ones(1), draws, EPSILON, stay)[0, 0, 0])

    low, high = 0.0, 1e6
    scale = published(high)  # that of the noise of a publication
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if published(middle) else (middle, high)
    return high / scale


def dearest(release, stay):
    """Return the largest epsilon of a window and of a round, by the scales of its publications.

    Draws of decisions let it publish often at some places, and seldom at others.
    """
    rng = np.random.default_rng(1)
    rounds = 4 * stay + 4
    news = rng.random((rounds, 40)) < np.where(np.arange(40) < 20, 0.5 / stay, 0.5)
    x = np.cumsum(news, axis=0).astype(float)
    draws = rng.laplace(size=(rounds, 2, 20, 40))
    draws[:, 0] = np.where(news, 1e9, -1e9)[:, None]
    made = release(x, np.full(40, 1e6), draws, EPSILON, stay)
    moved = np.diff(made, axis=0, prepend=0) != 0
    noise = np.where(moved, made - x[:, None], np.inf)
    spent = np.append(np.zeros_like(noise[:1]), np.cumsum(draws[:, 1] / noise, axis=0), axis=0)
    decisions = decision(release, stay)
    window = float((spent[stay:] - spent[:-stay]).max()) + stay * decisions
    return window, float(np.diff(spent, axis=0).max()) + decisions


def spends_too_much(release, stay):
    window, round_ = dearest(release, stay)
    most = EPSILON * (1 + 1e-6)
    return window > most or round_ > most * MECHANISMS["budget-absorption"].most(stay)


@pytest.mark.parametrize("stay", [1, 3, 20])
def test_budget_absorption_spends_what_it_says(stay):
    """And nothing less: a larger share for a round would cost more of the level than it spends."""
    assert not spends_too_much(event_streams.budget_absorption, stay)
    most = MECHANISMS["budget-absorption"].most(stay)
    spent = dearest(event_streams.budget_absorption, stay)
    assert spent == pytest.approx((EPSILON, most * EPSILON))


def with_decisions(factor, noise):
    """Return budget absorption with other shares of epsilon for decisions and publications."""

    def release(x, capacity, draws, epsilon, stay):
        other = draws * np.array([1 / factor, noise])[:, None, None]
        return event_streams.budget_absorption(x, capacity, other, epsilon, stay)

    return release


def long_absorb(x, capacity, draws, epsilon, stay):
    """Absorb up to twice as many rounds as a window has."""
    return event_streams.budget_absorption(x, capacity, draws, 2 * epsilon, 2 * stay)


SPEND = {
    "each decision spends half": with_decisions(3.0, 1.0),
    "half of the noise of a publication": with_decisions(1.0, 0.5),
    "0.9 of the noise of a publication": with_decisions(1.0, 0.9),
    "a window is a round too short": lambda x, c, draws, e, w: event_streams.budget_absorption(
        x, c, draws, e, w - 1
    ),
    "absorbs up to two windows": long_absorb,
}


@pytest.mark.parametrize("fault", SPEND)
@pytest.mark.parametrize("stay", [3, 20])
def test_budget_absorption_that_spends_more_is_seen(fault, stay):
    assert spends_too_much(SPEND[fault], stay)

"""The learner of random effects, against dense Gaussian conditioning, and its properties."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from dpol.experts.learners.alone import LearnerAlone
from dpol.experts.learners.random_effects import BY_SIZE, GROWTH, LEVEL_FLOOR, RandomEffectsBank
from dpol.experts.play import play_rounds
from dpol.privacy.chains import Chains
from steps import final_state, typical_levels

BANK = RandomEffectsBank(scales=(0.2, 0.9), effect=0.4, persistence=0.7, forgetting=0.9)
MODELS = tuple(itertools.product(GROWTH, BY_SIZE, BANK.scales))
CHAINS = Chains(np.array([0.0, 0.2, 0.0, -0.3, 0.5]), np.array([0.6, 0.6, 0.9, 0.4, 0.5]))


@pytest.fixture
def play_with(make_noisy):
    """Return a maker of games: 6 rounds, 5 hospitals, 2 replicates, capacities that change."""

    def made(memory=None):
        rng = np.random.default_rng(4)
        capacity = rng.uniform(20, 300, 5) * rng.uniform(0.5, 2, (6, 5))
        fresh = 10 / capacity
        law = memory or Chains(np.zeros(5), np.zeros(5))
        noise = np.stack([law.noise(rng.standard_normal((6, 5))) for _ in range(2)])
        level = np.array([[0.1], [0.3], [0.2], [0.02], [0.0], [0.1]])
        factors = np.exp(0.3 * rng.standard_normal(5) + 0.2 * rng.standard_normal((6, 5)))
        return dataclasses.replace(
            make_noisy(level * factors + fresh * noise, fresh * law.deviations(6, 5)),
            memory=memory,
            fresh_scale=None if memory is None else fresh,
            capacity=capacity,
        )

    return made


# --- A plain version: Gaussian conditioning on the whole history, loops over everything ---


def scale_at(level, growth):
    return np.asarray(level, dtype=float) ** growth


def conditioned(model, sizes, levels, above, fresh, memory):
    """Return an expert's mean and variance of p + x, mean of u, log density, given rounds 1..t.

    `sizes` and `levels` are those of the t rounds.
    """
    growth, (power, brief), size = model
    t, (a, b) = len(above), memory
    lag = np.subtract.outer(np.arange(t + 1), np.arange(t))
    left = np.where(lag > 0, (a - b) * a ** np.maximum(lag - 1.0, 0), 0)  # u by draws
    noise = fresh[:, None] * (np.eye(t) + left[:t])
    of_noise, with_left = noise @ noise.T, noise @ left[t]
    lag = np.abs(np.subtract.outer(np.arange(t + 1), np.arange(t + 1)))
    law = BANK.effect**2 * size + size**2 * BANK.persistence**lag
    scale = scale_at(levels, growth) * np.asarray(sizes) ** -power
    seen = np.outer(scale, scale) * (law[:t, :t] + np.eye(t) * (size * brief) ** 2)
    seen += of_noise
    ahead, solved = scale * law[t, :t], np.linalg.solve(seen, above)
    variance = law[t, t] - ahead @ np.linalg.solve(seen, ahead)
    density = -0.5 * (above @ solved + np.linalg.slogdet(seen)[1])
    return ahead @ solved, variance, with_left @ solved, density


def by_loops(noisy, r):
    """Return a replicate's predicted, spread and noise, (n,), shares, (K,), level, and variance.

    All are those at the end. Level, predicted, spread and the variance of the next gain, (n,), are
    in units of the typical level.
    """
    relative = noisy.capacity / np.median(noisy.capacity[0])
    memory = noisy.memory or Chains(np.zeros(5), np.zeros(5))
    rounds, n, count = noisy.n_rounds, noisy.n_experts, len(MODELS)
    units = np.array([each.unit[r] for each in typical_levels(noisy)])
    whole = noisy.noise_scale / units
    fresh = whole if noisy.memory is None else noisy.fresh_scale / units
    gains, levels, densities = noisy.gains[r] / units, [], np.zeros((rounds + 1, count, n))
    predicted, noise, shares = np.zeros(n), np.zeros(n), np.full(count, 1 / count)
    priors = [
        conditioned(model, [], [], np.zeros(0), np.zeros(0), (0, 0))[1]
        * relative[0] ** (-2 * model[1][0])
        for model in MODELS
    ]
    first = np.full((count, n), 1 / count)
    spread = (np.array(priors) * first).sum(axis=0)  # before any data the level is 1
    for t in range(1, rounds + 1):
        precision = 1 / (whole[t - 1] ** 2 + spread)
        level = precision @ (gains[t - 1] - predicted - fresh[t - 1] * noise) / precision.sum()
        levels.append(max(level, LEVEL_FLOOR))
        means, variances, lefts = np.empty((3, count, n))
        for k, i in itertools.product(range(count), range(n)):
            above, law = gains[:t, i] - levels, (memory.a[i], memory.b[i])
            known = conditioned(MODELS[k], relative[:t, i], levels, above, fresh[:t, i], law)
            means[k, i], variances[k, i], lefts[k, i], densities[t, k, i] = known
        factors = BANK.forgetting ** np.arange(t)[::-1]
        logs = np.tensordot(factors, np.diff(densities[: t + 1], axis=0), 1)
        logs += np.log(shares)[:, None]
        weights = np.exp(logs - logs.max(axis=0))
        weights /= weights.sum(axis=0)
        shares = (weights.sum(axis=1) + 1) / (n + count)
        by_size = np.array([relative[t - 1] ** -model[1][0] for model in MODELS])
        scale = by_size * np.array([scale_at(levels[-1], model[0]) for model in MODELS])[:, None]
        predicted = (weights * scale * means).sum(axis=0)
        parts = scale**2 * variances + (scale * means - predicted) ** 2
        spread, noise = (weights * parts).sum(axis=0), (weights * lefts).sum(axis=0)
    return predicted, spread, noise, shares, levels[-1]


@pytest.mark.parametrize("memory", [None, CHAINS], ids=["independent", "chains"])
def test_it_equals_conditioning_on_the_whole_history(play_with, memory):
    noisy = play_with(memory)
    state = final_state(BANK, noisy)
    for r in range(noisy.n_replicates):
        predicted, spread, noise, shares, level = by_loops(noisy, r)
        np.testing.assert_allclose(state.level[r], level, rtol=1e-8)
        np.testing.assert_allclose(state.predicted[r], predicted, rtol=1e-8)
        np.testing.assert_allclose(state.spread[r], spread, rtol=1e-8)
        np.testing.assert_allclose(state.noise[r], noise, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(state.shares[:, r, 0], shares, rtol=1e-8)
    assert state.shares.max() < 0.9


# --- Properties ---


def test_without_capacities_all_hospitals_are_of_one_size(play_with):
    noisy = play_with()
    alike = dataclasses.replace(noisy, capacity=np.full_like(noisy.capacity, 50.0))
    unknown = dataclasses.replace(noisy, capacity=None)
    states = [final_state(RandomEffectsBank(), game) for game in (alike, unknown, noisy)]
    np.testing.assert_array_equal(states[0].predicted, states[1].predicted)
    assert (states[1].predicted != states[2].predicted).all()


def test_a_replicate_is_the_same_alone(make_noisy):
    """With one expert, what NumPy could add up in another order is the numbers of the models."""
    gains = np.random.default_rng(6).random((2, 30, 1))
    both, alone = (final_state(BANK, make_noisy(some, 0.2)) for some in (gains, gains[:1]))
    for name in ("predicted", "spread"):
        np.testing.assert_array_equal(getattr(both, name)[:1], getattr(alone, name))


def test_it_begins_with_the_first_and_follows_the_best_without_noise(make_noisy, crowd):
    gains = np.tile([0.1, 0.3, 0.2], (1, 10, 1))
    actions = play_rounds(LearnerAlone(RandomEffectsBank()), make_noisy(gains), crowd(1))
    assert actions.tolist() == [[0] + [1] * 9]

"""Functions behind the checks of L2P's lemmas, by hand, simulation and brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import lazy_plain as plain
from dpol.lazy.exact import exact_epsilon, output_masses
from dpol.lazy.transform import LazyParameters
from dpol.studies.ledger.claims import lemmas

ERROR = 1e-6


def test_the_exact_epsilon_is_the_divergence_over_all_events():
    """Definition 2.2: the supremum of log((P(S) - δ) / Q(S)) over events of six outcomes."""
    one, other = np.random.default_rng(0).dirichlet(np.ones(6), (2, 100))
    events = np.array(list(itertools.product((0, 1), repeat=6)))[1:]
    for delta in (0.0, 0.01, 0.2):
        ratios = np.maximum(one @ events.T - delta, 0) / (other @ events.T)
        expected = np.log(np.maximum(ratios.max(axis=1), 1))
        np.testing.assert_allclose(exact_epsilon(one, other, delta), expected, atol=1e-9)


def test_a_race_disagrees_as_often_as_computed():
    """100,000 races refuse a sound formula with probability 1e-6, and find an error of 0.01."""
    one, other = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.1, 0.3, 0.2, 0.4])
    times = np.random.default_rng(0).exponential(size=(100_000, 4))
    with np.errstate(divide="ignore"):
        differ = (times / one).argmin(axis=1) != (times / other).argmin(axis=1)
    chance = lemmas.disagreement(one, other)
    margin = stats.norm.isf(ERROR / 2) * math.sqrt(0.25 / len(times))
    assert abs(differ.mean() - chance) < margin < 0.01


@pytest.mark.parametrize("exponent", lemmas.EXPONENTS)
def test_a_coin_between_two_normal_models(exponent):
    """All outcomes on a grid, at order 2, where (α - 1) α ρ is the divergence of the models."""
    grid = np.linspace(-9, 12, 400)
    told = [np.exp(-((grid - mean) ** 2) / 2) for mean in (math.sqrt(exponent), 0)]
    one, other = (density / density.sum() for density in told)
    models = [np.concatenate([np.outer(law, other), np.outer(other, law)]) for law in (one, other)]
    together = [np.concatenate([law, other]) / 2 for law in (one, other)]
    whole, each = (
        float(lemmas.renyi(*laws, np.array([2.0]))[0])
        for laws in ([model.ravel() / 2 for model in models], together)
    )
    assert whole == pytest.approx(exponent)
    assert 2 * each / whole == pytest.approx(lemmas.over_a_coin(exponent))
    assert 1.02 < lemmas.over_a_coin(exponent) < 2


def of_strategy(strategy, world, law):
    """Follow every draw under `strategy`; return the probabilities of (x_1, x_2, x_3)."""
    chances = {((x,), y): 1 / 4 for x, y in itertools.product((0, 1), repeat=2)}
    totals = {(x,): [0.0, 0.0] for x in (0, 1)}
    for _ in range(2):
        after, summed = {}, {}
        for (xs, y), chance in chances.items():
            loss = [float(i == strategy[xs][world]) for i in (0, 1)]
            total = [a + b for a, b in zip(totals[xs], loss, strict=True)]
            nu = plain.weights(total, law.eta)
            ratio = math.exp(law.eta * (loss[y] - loss[xs[-1]]))
            keep = (1 - law.fake_switch) * min(1.0, ratio / math.exp(law.normaliser * law.eta))
            for x, z in itertools.product((0, 1), repeat=2):
                played = keep * (x == xs[-1]) + (1 - keep) * nu[x]
                shadow = (1 - law.fake_switch) * (z == y) + law.fake_switch * nu[z]
                after[(*xs, x), z] = after.get(((*xs, x), z), 0.0) + chance * played * shadow
                summed[(*xs, x)] = total
        chances, totals = after, summed
    paths = itertools.product((0, 1), repeat=3)
    return np.array([chances[xs, 0] + chances[xs, 1] for xs in paths])


def test_the_worst_adaptive_adversary_is_the_worst_of_all():
    """Compared with all adversaries of three rounds that make one of two experts lose 1 a round."""
    law = LazyParameters(batch_size=1, eta=0.8, fake_switch=0.2, normaliser=1.0)
    losses = np.eye(2)
    sums = np.array(list(itertools.product(losses, repeat=2)))
    laws, epsilon = output_masses(sums, law).reshape(2, 2, 8), 0.3
    pairs = list(itertools.product((0, 1), repeat=2))
    seen = [(0,), (1,), *itertools.product((0, 1), repeat=2)]
    worst, oblivious = 0.0, 0.0
    for chosen in itertools.product(pairs, repeat=len(seen)):
        strategy = dict(zip(seen, chosen, strict=True))
        unlike = {xs for xs in seen if strategy[xs][0] != strategy[xs][1]}
        if any(xs[:1] in unlike for xs in unlike if len(xs) == 2):
            continue  # two rounds differ on this path
        one, other = (of_strategy(strategy, world, law) for world in (0, 1))
        delta = float(np.maximum(one - math.exp(epsilon) * other, 0.0).sum())
        worst = max(worst, delta)
        if len(set(chosen[:2])) == len(set(chosen[2:])) == 1:
            oblivious = max(oblivious, delta)
    assert lemmas.adaptive_delta(laws, epsilon) == pytest.approx(worst, rel=1e-12)
    assert worst > oblivious > 0

"""The private shrinking dartboard: its plain version, exact laws, and variants without privacy."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pytest

import lazy_plain as plain
from dpol.core.randomness import ReplicateGenerators
from dpol.experts.play import RawGains, play_rounds, setup_of
from dpol.lazy.accounting import LazyGame, sound_epsilon
from dpol.lazy.dartboard import ShrinkingDartboard, choose_dartboard, theorem_5_epsilon
from dpol.lazy.exact import output_masses
from dpol.lazy.parameters import choose_parameters
from dpol.lazy.transform import LazyParameters


def by_paths(sums, *, eta, p, limit):
    """Return {(x_1, ..., x_S): probability} of Algorithm 1 by following every draw."""
    totals = itertools.accumulate(sums, lambda one, other: [*map(sum, zip(one, other))])  # noqa: B905
    steps = [
        ([(1 - p) * math.exp(-eta * loss) for loss in batch], plain.weights(total, eta))
        for batch, total in zip(sums, totals, strict=True)
    ]
    return plain.law_of_one_point([1 / len(sums[0])] * len(sums[0]), steps, limit)


@pytest.mark.parametrize("limit", [0, 1, math.inf])
@pytest.mark.parametrize(("d", "eta", "p"), [(2, 0.3, 0.2), (3, 1.5, 0.0), (3, 0.1, 1.0)])
def test_laws_agree_with_following_every_draw(d, eta, p, limit):
    sums = np.random.default_rng(0).uniform(0, 2, size=(2, 3, d))
    rule = LazyParameters(batch_size=2, eta=eta, fake_switch=p, shadow=False, limit=limit)
    for row, law in zip(sums, output_masses(sums, rule), strict=True):
        expected = by_paths(row.tolist(), eta=eta, p=p, limit=limit)
        outputs = itertools.product(range(d), repeat=4)
        assert law == pytest.approx([expected.get(xs, 0.0) for xs in outputs], rel=1e-12)


def played(stream, mu, algorithm, r):
    """Return whether 30 replicates are Algorithm 1 on (r - gain) / r, by the numbers they read."""
    tapes = [plain.Tape(np.random.default_rng(k).random(400).tolist()) for k in range(30)]
    source = RawGains(stream, mu, 30)
    actions = play_rounds(algorithm, source, ReplicateGenerators(tuple(tapes)))
    rules, losses = algorithm.parameters_for(setup_of(source)), (r - stream.gains) / r
    B, eta = rules.batch_size, rules.eta
    for tape, chosen in zip(tapes, actions.tolist(), strict=True):
        numbers, total, redraws = iter(tape.numbers), np.zeros(losses.shape[1]), 0
        x, _, expected = plain.draw(plain.weights(total, eta), next(numbers)), next(numbers), []
        for first in range(0, len(losses), B):
            if first:
                batch = losses[first - B : first].sum(axis=0)
                total = total + batch
                real, fake, _ = next(numbers), next(numbers), next(numbers)
                switch = real >= math.exp(-eta * batch[x]) or fake < rules.fake_switch
                if switch and redraws < rules.limit:
                    x, redraws = plain.draw(plain.weights(total, eta), next(numbers)), redraws + 1
            expected += [x] * len(losses[first : first + B])
        if expected != chosen:
            return False
    return True


@pytest.mark.parametrize(("mu", "T"), [(0.02, 90), (0.5, 40), (math.inf, 20)])
def test_it_plays_algorithm_one_on_losses(make_stream, mu, T):
    gains = 4 * np.random.default_rng(T).random((T, 4))
    stream = make_stream(gains, 5.0, gain_range=4.0)
    assert played(stream, mu, ShrinkingDartboard(1e-3), 4.0)
    assert not played(stream, mu, ShrinkingDartboard(1e-3), 8.0)  # power


# ---- parameters ----------------------------------------------------------------------------------


def test_theorems_2_and_5_by_hand():
    """5 eta/(Bp) + 100 T p eta^2/B^3 + 20 eta/B sqrt(12 T p/B log(1/delta)), 12 only in batches."""
    game, log_term = LazyGame(1000, math.exp(-9)), 9.0
    eta = -math.log(0.99)
    assert theorem_5_epsilon(game, 1, eta, 0.1) == pytest.approx(0.5 + 1.0 + 0.2 * 30)
    batched = 0.25 + 100 * 1000 * 0.1 * 1e-4 / 8 + 0.1 * math.sqrt(12 * 50 * log_term)
    assert theorem_5_epsilon(game, 2, eta / 2, 0.1) == pytest.approx(batched)
    for step, p in ((0.01, 0.5), (0.5, 0.4), (0.2, 0.1), (0.01, 0.0)):
        assert theorem_5_epsilon(game, 1, -math.log(1 - step), p) == math.inf


@pytest.mark.parametrize("accountant", ["sound", "published"])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_chosen_parameters_reach_epsilon_with_the_stated_bound(accountant, epsilon):
    game = LazyGame(10_000, 1e-6)
    best = choose_dartboard(game, epsilon=epsilon, n_experts=300, accountant=accountant)
    B, eta, p = best.batch_size, best.eta, best.fake_switch
    account = {"sound": partial(sound_epsilon, shadow=False), "published": theorem_5_epsilon}[
        accountant
    ]
    assert 0.98 * epsilon < account(game, B, eta, p) == best.epsilon <= epsilon
    limit = math.ceil(4 * 10_000 * p / B) - 1
    assert best.limit == (limit if accountant == "published" else math.inf)
    assert (best.shadow, best.log_scale) == (False, 0.0)
    bound = math.log(300) / eta + eta * 10_000 * B / 8
    if accountant == "published":
        step = 1 - math.exp(-B * eta)
        bound = step * 1e4 + B * math.log(300) / step + 2e4 * math.exp(-1e4 * p / (3 * B))
    assert best.objective == pytest.approx(bound)
    if accountant == "sound":  # less than L2P at the same guarantee
        assert bound < 0.8 * choose_parameters(game, epsilon=epsilon, n_experts=300).objective


@pytest.mark.parametrize("accountant", ["sound", "published"])
def test_batches_are_no_larger_than_the_largest_allowed(accountant):
    game = LazyGame(10_000, 1e-6)
    asked = {"epsilon": 0.5, "n_experts": 300, "accountant": accountant}
    free = choose_dartboard(game, **asked).batch_size
    for largest in (free // 2, free, 1):
        assert 1 <= choose_dartboard(game, **asked, largest_batch=largest).batch_size <= largest
    assert free > 10


@pytest.mark.parametrize(("accountant", "origin"), [("sound", "ours"), ("published", "paper")])
def test_the_sound_accountant_is_ours(accountant, origin):
    assert ShrinkingDartboard(accountant=accountant).origin == origin

"""Lazy regularised weights: the coin, the law of the points, and the accounting.

No library code is used for the expected numbers: densities are sums over a grid of points.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import integrate, stats

import lazy_plain as plain
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.lazy.convex.accounting import ConvexGame, ConvexParameters, choose_convex_parameters
from dpol.lazy.convex.bodies import Ball
from dpol.lazy.convex.lazy_weights import (
    choose_lazy_weights,
    kept_by_ratio,
    lazy_weights_epsilon,
    play_lazy_weights,
)
from dpol.lazy.convex.losses import LinearLosses
from dpol.lazy.convex.measure import RegularisedWeights
from dpol.lazy.exact import exact_epsilon
from replicates import many

# A sound library fails a statistical test with at most this probability.
ERROR = 1e-6
GAME = ConvexGame(n_rounds=1000, dimension=3, diameter=2.0, lipschitz=1.5, delta=1e-6)


def parameters(
    eta: float, p: float, *, limit: float = math.inf, beta: float = 1.0, weight: float = 1.0
) -> ConvexParameters:
    return ConvexParameters(
        1,
        eta,
        fake_switch=p,
        shadow=False,
        limit=limit,
        epsilon=1.0,
        objective=0.0,
        beta=beta,
        regulariser=weight,
    )


def densities(slopes: Floats, points: Floats, beta: float, weight: float) -> Floats:
    """Return the (T, n) normalised measures nu_1, ..., nu_T of linear losses at points."""
    found = []
    for t in range(len(slopes) + 1):
        raw = np.exp(-beta * (slopes[:t].sum() * points + weight * points**2))
        found.append(raw / raw.sum())
    return np.array(found)


def law_of(slopes: Floats, points: Floats, rules: ConvexParameters) -> dict[tuple[int, ...], float]:
    """Return {(x_1, ..., x_T): probability} by following every draw."""
    nu = densities(slopes, points, rules.beta, rules.regulariser)
    least = (1 - rules.fake_switch) * math.exp(-rules.eta)
    steps = [((least * new / old).tolist(), new.tolist()) for old, new in itertools.pairwise(nu)]
    return plain.law_of_one_point(nu[0].tolist(), steps, rules.limit)


@dataclass(frozen=True)
class GridWeights:
    """The measure for linear losses on a few points; counts the points that are drawn."""

    points: Floats
    beta: float
    weight: float

    def initial(self) -> Floats:
        return np.zeros(1)

    def absorb(self, state: Floats, batch: Floats) -> Floats:
        return state + batch

    def sample(self, state: Floats, generators: ReplicateGenerators) -> Floats:
        raw = np.exp(-self.beta * (state * self.points + self.weight * self.points**2))
        cumulated = np.cumsum(raw / raw.sum())
        places = np.searchsorted(cumulated, generators.uniform() * cumulated[-1], side="right")
        return np.asarray(self.points[np.minimum(places, len(self.points) - 1)][:, None])

    def log_ratio(self, batch: Floats, points: Floats) -> Floats:
        return np.asarray(-self.beta * (points * batch).sum(axis=1))

    def loss(self, batch: Floats, points: Floats) -> Floats:
        return np.asarray((points * batch).sum(axis=1))


# ---- the coin ------------------------------------------------------------------------------------


def share_kept(x: float, eta: float, runs: int, *, slope: float, beta: float, weight: float) -> int:
    """Return how many of `runs` coins keep x, after one loss of slope 1."""
    measure = RegularisedWeights(body=Ball(1, 2.0), beta=beta, regulariser=weight)
    points, state = np.full((runs, 1), x), np.ones(1)
    return int(kept_by_ratio(measure, state, np.array([slope]), points, eta, many(runs)).sum())


@pytest.mark.parametrize("x", [-1.0, 0.2, 1.0])
@pytest.mark.parametrize(("slope", "beta", "weight"), [(1.0, 0.3, 0.5), (0.7, 0.8, 2.0)])
def test_the_coin_has_the_ratio_of_normalised_densities(
    x: float, slope: float, beta: float, weight: float
) -> None:
    """By quadrature on [-1, 1]. Broken: the ratio of densities that are not normalised."""
    grid = np.linspace(-1, 1, 4001)
    first = np.exp(-beta * (grid + weight * grid**2))
    second = first * np.exp(-beta * slope * grid)
    masses = [float(integrate.simpson(f, x=grid)) for f in (first, second)]
    eta, runs = 2 * beta, 40_000
    unnormalised = math.exp(-eta - beta * slope * x)
    count = share_kept(x, eta, runs, slope=slope, beta=beta, weight=weight)
    assert stats.binomtest(count, runs, unnormalised * masses[0] / masses[1]).pvalue > ERROR
    assert stats.binomtest(count, runs, unnormalised).pvalue < ERROR


# ---- the law of the points -----------------------------------------------------------------------

SLOPES, POINTS = np.array([1.0, -1.0, 0.5]), np.array([-1.0, -0.2, 0.3, 1.0])


def fits(rules: ConvexParameters, law: dict[tuple[int, ...], float], runs: int = 20_000) -> bool:
    """Return whether games have the law of (total loss, redraws seen), up to `ERROR`.

    Total losses tell almost all sequences of points apart: slopes are 1, -1, 1/2 and pi / 10.
    """
    slopes = np.append(SLOPES, math.pi / 10)
    losses = LinearLosses(slopes[:, None], 1.0)
    measure = GridWeights(POINTS, rules.beta, rules.regulariser)
    total, redraws = play_lazy_weights(measure, rules, losses, many(runs, 1))
    assert redraws.max() <= rules.limit
    expected: dict[float, float] = {}
    for xs, chance in law.items():
        at = round(float(slopes @ POINTS[list(xs)]), 9)
        expected[at] = expected.get(at, 0.0) + runs * chance
    values, counts = np.unique(total.round(9), return_counts=True)
    seen = dict(zip(values.tolist(), counts.tolist(), strict=True))
    if not set(seen) <= set(expected):
        return False
    large = [at for at in expected if expected[at] > 5]
    observed = [seen.get(at, 0) for at in large]
    means = [expected[at] for at in large]
    observed.append(runs - sum(observed))
    means.append(runs - sum(means))
    return bool(stats.chisquare(observed, means).pvalue > ERROR)


def test_running_code_has_the_computed_law_and_no_other() -> None:
    """Broken once each: no fake switches, no limit, another constant, and losses of half size."""
    rules = parameters(1.0, 0.2, limit=2, beta=0.5, weight=0.4)
    law = law_of(SLOPES, POINTS, rules)
    assert fits(rules, law)
    assert not fits(replace(rules, fake_switch=0.0), law)
    assert not fits(replace(rules, limit=math.inf), law)
    assert not fits(replace(rules, eta=1.5), law)
    assert not fits(replace(rules, beta=0.25), law)


# ---- privacy -------------------------------------------------------------------------------------


def by_hand(game: ConvexGame, p: float, beta: float, weight: float, limit: float) -> float:
    """Return epsilon by the stated accounting; the conversion shares no code."""
    L, D, T = game.lipschitz, game.diameter, game.n_rounds

    def indicator(change: float) -> float:
        return max(change, math.log(1 + (1 - p) * (1 - math.exp(-change)) / p))

    gdp = L * math.sqrt(2 * beta / weight)
    tau = 2 * float(stats.norm.cdf(gdp / 2)) - 1
    later = indicator(math.log(1 + (math.exp(beta * L * D) - 1) * tau))
    rho = limit * gdp**2 / 2 + (T - 2) * later**2 / 2
    first = indicator(2 * beta * L * D)
    together = plain.zcdp_to_epsilon(first**2 / 2 + rho, game.delta)
    return min(together, first + plain.zcdp_to_epsilon(rho, game.delta))


SETTINGS = [(0.05, 0.01, 200.0, 90), (0.02, 0.02, 30.0, 100), (0.1, 0.05, 150.0, 50)]


@pytest.mark.parametrize(("p", "beta", "weight", "limit"), SETTINGS)
def test_epsilon_is_its_definition(p: float, beta: float, weight: float, limit: int) -> None:
    """The library has a grid of orders, so it may be larger by half a percent, never smaller."""
    expected = by_hand(GAME, p, beta, weight, limit)
    found = lazy_weights_epsilon(GAME, p, beta, weight, limit)
    assert expected * (1 - 1e-9) <= found <= expected * 1.005
    fewer = replace(GAME, n_rounds=500)
    assert found > 1.005 * by_hand(fewer, p, beta, weight, limit)  # power
    assert lazy_weights_epsilon(GAME, 0.0, beta, weight, limit) == math.inf


def test_the_exact_epsilon_of_small_games_is_below_the_accounted_one() -> None:
    """Four rounds on seven points, all neighbours with slopes -1 and 1; without fake switches not.

    The limit is one redraw a round, so it stops nobody.
    """
    beta, weight, points = 0.05, 50.0, np.linspace(-1.0, 1.0, 7)
    game = replace(GAME, n_rounds=4, dimension=1, lipschitz=1.0)

    def exact(p: float) -> float:
        rules = parameters(beta * 2.0, p, beta=beta, weight=weight)
        slopes = list(itertools.product((-1.0, 1.0), repeat=3))
        laws = {
            each: np.array([*law_of(np.array(each), points, rules).values()]) for each in slopes
        }
        pairs = [
            (one, other)
            for one, other in itertools.permutations(slopes, 2)
            if sum(a != b for a, b in zip(one, other, strict=True)) == 1
        ]
        first, second = (np.array([laws[pair[k]] for pair in pairs]) for k in (0, 1))
        return float(exact_epsilon(first, second, game.delta).max())

    claim = lazy_weights_epsilon(game, 0.3, beta, weight, limit=3)
    assert 0.3 * claim < exact(0.3) <= claim
    assert exact(0.0) > claim


@pytest.mark.parametrize(("T", "d", "epsilon"), [(60, 1, 1.0), (1000, 3, 4.0)])
def test_chosen_parameters_reach_the_epsilon_asked_for(T: int, d: int, epsilon: float) -> None:
    game = replace(GAME, n_rounds=T, dimension=d)
    best = choose_lazy_weights(game, epsilon=epsilon)
    p, beta, weight, L, D = best.fake_switch, best.beta, best.regulariser, 1.5, 2.0
    assert (best.batch_size, best.shadow, best.eta) == (1, False, pytest.approx(beta * L * D))
    redraw = 1 - (1 - p) * math.exp(-2 * best.eta)
    assert best.limit == plain.binomial_quantile(T - 1, redraw, 1 / T)
    found = by_hand(game, p, beta, weight, best.limit)
    assert found <= best.epsilon * (1 + 1e-9)
    assert 0.9 * epsilon < best.epsilon <= epsilon
    bound = weight * D**2 / 4 + T * L**2 / (2 * weight) + d / beta
    assert best.objective == pytest.approx(bound, rel=1e-12)
    assert choose_convex_parameters(game, epsilon=epsilon).shadow

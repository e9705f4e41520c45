"""Lazy regularised multiplicative weights, L2P's predecessor for convex losses: one point.

A point x is kept with probability (1 - p) C nu_{t+1}(x) / nu_t(x), for normalised densities nu, and
drawn again otherwise. So every earlier loss can move every later switch, which L2P prevents.

Source: the rule of "Improved Differentially Private and Lazy Online Convex Optimization", as
"Private Online Learning via Lazy Algorithms" describes it in section 3. Of the former we know the
abstract only, which says that it limits switches. C = e^(-beta L D), the limit, the way to toss the
coin and the accounting are ours.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.lazy.accounting import (
    composed_epsilon,
    indicator_epsilon,
    redraw_probability,
    upper_quantile,
)
from dpol.lazy.convex.accounting import (
    ConvexGame,
    ConvexParameters,
    choose_convex_parameters,
    parameters_at,
)
from dpol.lazy.transform import LazyParameters, Losses, Measure, Points
from dpol.privacy.gaussian_dp import delta_of_epsilon


def lazy_weights_epsilon(
    game: ConvexGame, fake_switch: float, beta: float, regulariser: float, limit: float
) -> float:
    """Return epsilon by our accounting, valid for all parameters if samples are exact.

    As for L2P (`accounting.convex_epsilon`), a redraw is mu-GDP for mu = L sqrt(2 beta / lambda),
    and the differing round changes the log probability of keeping x by at most 2 beta L D in its
    own indicator. It also changes all later ones, through the normalisers: their ratio is the mean
    of e^(-beta loss) under nu_t. The two means have log ratio log(1 + (e^(beta L D) - 1) tau) at
    most, where tau = 2 Phi(mu / 2) - 1 bounds the total variation of mu-GDP draws. The limit itself
    bounds the redraws, so no delta pays for them.

    Args:
        game: facts about the game.
        fake_switch: p, probability of a fake switch; the result for 0 is inf.
        beta: inverse temperature.
        regulariser: lambda, the weight of `|x|^2`.
        limit: most redraws, the first draw not counted.

    >>> game = ConvexGame(n_rounds=1000, dimension=2, diameter=2.0, lipschitz=1.0, delta=1e-6)
    >>> round(lazy_weights_epsilon(game, 0.1, beta=0.01, regulariser=100.0, limit=150), 3)
    1.088
    """
    if fake_switch <= 0:
        return math.inf
    L, spread = game.lipschitz, beta * game.lipschitz * game.diameter
    tau = float(delta_of_epsilon(0.0, L * math.sqrt(2 * beta / regulariser)))
    later = indicator_epsilon(fake_switch, math.log1p(math.expm1(spread) * tau))
    rho = limit * beta * L**2 / regulariser + max(game.n_rounds - 2, 0) * later**2 / 2
    return composed_epsilon(fake_switch, 2 * spread, rho, game.delta)


def choose_lazy_weights(game: ConvexGame, *, epsilon: float) -> ConvexParameters:
    """Return the parameters of least expected regret whose accounted epsilon is at most `epsilon`.

    The objective is that of `choose_convex_parameters` for batches of one round. More redraws than
    the limit are wanted with probability at most 1/T, so it costs at most L D.

    Args:
        game: facts about the game.
        epsilon: largest epsilon allowed.

    Raises:
        ValueError: no parameters reach epsilon.

    >>> game = ConvexGame(n_rounds=1000, dimension=10, diameter=2.0, lipschitz=1.0, delta=1e-6)
    >>> chosen = choose_lazy_weights(game, epsilon=4.0)
    >>> chosen.batch_size, round(chosen.beta, 3), chosen.limit
    (1, 0.05, 405)
    """
    return choose_convex_parameters(game, epsilon=epsilon, largest_batch=1, at=_lazy_parameters_at)


def _lazy_parameters_at(
    game: ConvexGame, batch_size: int, p: float, regulariser: float, fixed: float, beta: float
) -> ConvexParameters:
    """Return the parameters at a beta; `fixed` is the objective without the term in beta."""
    T = game.n_rounds
    redraw = redraw_probability(p, -2 * beta * game.lipschitz * game.diameter)
    limit = upper_quantile(T - 1, redraw, 1 / T)
    return replace(
        parameters_at(game, batch_size, p, regulariser, fixed, beta),
        shadow=False,
        limit=limit,
        epsilon=lazy_weights_epsilon(game, p, beta, regulariser, limit),
    )


def play_lazy_weights(
    measure: Measure, parameters: LazyParameters, losses: Losses, generators: ReplicateGenerators
) -> tuple[Floats, Floats]:
    """Play a whole game; return the (R,) total losses and the (R,) redraws."""
    state, before = measure.initial(), None
    points = measure.sample(state, generators)
    total, redraws = np.zeros((2, generators.n_replicates))
    for one in losses.batches(1):
        if before is not None:
            kept = kept_by_ratio(measure, state, before, points, parameters.eta, generators)
            redraw = ~kept | (generators.uniform() < parameters.fake_switch)
            rows = np.flatnonzero(redraw & (redraws < parameters.limit))
            state = measure.absorb(state, before)
            if len(rows):
                points[rows] = measure.sample(state, generators.of(rows))
                redraws[rows] += 1
        before = one.sum(axis=0) if isinstance(one, np.ndarray) else one
        total += measure.loss(before, points)
    return total, redraws


def kept_by_ratio(
    measure: Measure,
    state: Any,
    batch: Any,
    points: Points,
    eta: float,
    generators: ReplicateGenerators,
) -> NDArray[np.bool_]:
    """Toss (R,) coins with probability e^(-eta) nu_{t+1}(x) / nu_t(x), without the normalisers.

    The ratio is 1 / E g(y), where y is a draw from nu_t and g(y) = e^(-beta (loss of y - loss of
    x)). With h = e^(-eta) E g(y) the probability is e^(-2 eta) / h, the sum of e^(-2 eta) (1 - h)^k
    over k. So each step of a loop keeps x with probability e^(-2 eta), and goes on with probability
    1 - h, for which one y is enough.

    Args:
        measure: the measures nu.
        state: state of nu_t.
        batch: the loss of round t.
        points: (R, ...) points x.
        eta: bound on the difference of `measure.log_ratio` between any two points.
        generators: one for each point.
    """
    kept, rows = np.zeros(len(points), dtype=bool), np.arange(len(points))
    least, own = math.exp(-2 * eta), measure.log_ratio(batch, points) + eta
    while len(rows):
        coins = generators.of(rows).uniform()
        kept[rows[coins < least]] = True
        rows, coins = rows[coins >= least], coins[coins >= least]
        if len(rows):
            others = measure.sample(state, generators.of(rows))
            h = np.exp(measure.log_ratio(batch, others) - own[rows])
            rows = rows[coins < least + 1 - h]
    return kept

"""Guarantee and parameters of L2P over regularised multiplicative weights.

They are not in the papers. The preset of the paper's Theorem 3.12 is here too, with its actual
guarantee.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpol.core.arguments import check_number, check_numbers, check_wholes
from dpol.lazy.accounting import NORMALISERS, ORDERS, Redraws, redrawn_epsilon
from dpol.lazy.parameters import AccountedParameters, largest_within, least_objective
from dpol.lazy.transform import LazyParameters


@dataclass(frozen=True, kw_only=True)
class ConvexGame:
    """The facts about a convex game that the accountant needs.

    Args:
        n_rounds: T, the number of rounds.
        dimension: d, dimension of the space.
        diameter: D, diameter of the ball.
        lipschitz: L, Lipschitz constant of the losses.
        delta: delta of the guarantee, in (0, 1).

    Raises:
        ValueError: a number is out of range.
    """

    n_rounds: int
    dimension: int
    diameter: float
    lipschitz: float
    delta: float

    def __post_init__(self) -> None:
        check_wholes(n_rounds=self.n_rounds, dimension=self.dimension)
        check_numbers("(0, 1e100]", diameter=self.diameter, lipschitz=self.lipschitz)
        check_number("delta", self.delta, "(0, 1)")


@dataclass(frozen=True, kw_only=True)
class ConvexParameters(AccountedParameters):
    """Parameters over `exp(-beta (losses + lambda |x|^2))`, and their guarantee.

    Args:
        batch_size: B, rounds in a batch.
        eta: scale of the keep probability, e^(-c B eta).
        fake_switch: p, probability of a fake switch.
        normaliser: c of the keep probability.
        shadow: whether a shadow point normalises the keep probability.
        limit: most redraws; inf for L2P.
        epsilon: accounted epsilon at the game's delta.
        objective: stand-in for regret that was minimised (see `choose_convex_parameters`).
        beta: inverse temperature.
        regulariser: lambda, the weight of `|x|^2`.
    """

    beta: float
    regulariser: float


def convex_epsilon(
    game: ConvexGame,
    batch_size: int,
    eta: float,
    fake_switch: float,
    beta: float,
    regulariser: float,
    normaliser: float = 1.0,
) -> float:
    """Return epsilon by our accounting, valid for all parameters if samples are exact.

    A round's loss varies by at most L D over the ball, so the log odds of the indicator after the
    differing round change by at most 2 beta L D. A redraw is L sqrt(2 beta / lambda)-GDP (Gopi,
    Lee and Liu, "Private Convex Optimization via Exponential Mechanism").

    Args:
        game: facts about the game.
        batch_size: B, rounds in a batch.
        eta: scale of the keep probability.
        fake_switch: p, probability of a fake switch; the result for 0 is inf.
        beta: inverse temperature.
        regulariser: lambda, the weight of `|x|^2`.
        normaliser: c of the keep probability.

    >>> game = ConvexGame(n_rounds=1000, dimension=2, diameter=2.0, lipschitz=1.0, delta=1e-6)
    >>> round(convex_epsilon(game, 10, 0.02, 0.1, beta=0.01, regulariser=10.0), 3)
    1.723
    """
    LazyParameters(batch_size, eta, fake_switch, normaliser=normaliser)  # refuses wrong numbers
    check_numbers("(0, 1e100]", beta=beta, regulariser=regulariser)
    if fake_switch <= 0:
        return math.inf
    spread = beta * game.lipschitz * game.diameter
    redraws = Redraws(
        batches=-(-game.n_rounds // batch_size),
        fake_switch=fake_switch,
        change=2 * spread,
        log_keep=-batch_size * (normaliser * eta + spread),
    )
    draw = ORDERS * (ORDERS - 1) * (beta * game.lipschitz**2 / regulariser)
    return redrawn_epsilon(redraws, draw, game.delta)


def choose_convex_parameters(
    game: ConvexGame,
    *,
    epsilon: float,
    largest_batch: int | None = None,
) -> ConvexParameters:
    """Return the parameters with the smallest expected regret and at most this accounted epsilon.

    eta = beta L D makes the keep probability at most 1 without capping, so marginals are exact.
    The objective, minimised over B, p, beta and lambda, is
    lambda D^2 / 4 + B T L^2 / (2 lambda) + d / beta: range of the regulariser, stability over a
    batch, and temperature of the Gibbs measure. It stands in for a bound on regret, whose last
    term has one more logarithm.

    Args:
        game: facts about the game.
        epsilon: largest epsilon allowed.
        largest_batch: largest batch size in rounds; None for T.

    Raises:
        ValueError: no parameters reach epsilon.
    """

    def least(batch_size: int) -> float:
        return game.lipschitz * game.diameter * math.sqrt(batch_size * game.n_rounds / 2)

    return least_objective(
        game.n_rounds,
        (epsilon, game.delta),
        partial(_improvements, game, epsilon),
        least=least,
        sizes=18,
        largest_batch=largest_batch,
    )


def _improvements(
    game: ConvexGame, epsilon: float, batch_size: int, best: float
) -> Iterator[ConvexParameters]:
    """Yield parameters of one batch size, each with a smaller objective than `best` and the last.

    The grid is over lambda and p, each with its largest beta. epsilon rises with beta, so beta is
    searched only if the beta that would equal the best objective so far reaches epsilon.
    """
    T, L, D = game.n_rounds, game.lipschitz, game.diameter
    low, high = 1e-9 / (L * D), 10 / (L * D)
    ideal = (L / D) * math.sqrt(2 * batch_size * T)
    regularisers, switches = ideal * np.geomspace(0.25, 64, 13), np.geomspace(1e-3, 1.0, 10)
    for regulariser, p in itertools.product(regularisers.tolist(), switches.tolist()):
        fixed = regulariser * D**2 / 4 + batch_size * T * L**2 / (2 * regulariser)
        if fixed >= best:
            continue

        def epsilon_at(beta: float, p: float = p, regulariser: float = regulariser) -> float:
            return convex_epsilon(game, batch_size, beta * (L * D), p, beta, regulariser)

        # The factor keeps rounding from deciding.
        needed = (1 - 1e-9) * game.dimension / (best - fixed)
        if epsilon_at(max(needed, low)) > epsilon:
            continue
        beta = largest_within(epsilon_at, epsilon, low=low, high=high, ratio=1.02)
        if beta and (objective := fixed + game.dimension / beta) < best:
            best, eta = objective, beta * (L * D)
            yield _accounted(game, batch_size, eta, p, beta, regulariser, objective=objective)


def theorem_3_12(game: ConvexGame, *, epsilon: float) -> ConvexParameters:
    """Return the parameters of the paper's Theorem 3.12, with epsilon by our accounting.

    They are for comparison. As stated, the theorem gives no guarantee: its beta meets Lemma 3.11
    only for delta_0 >= 0.164, and with p = eta / eps the first term of Theorem 3.2 alone is 2 eps.
    Source: "Private Online Learning via Lazy Algorithms", Theorem 3.12.
    """
    T, L = game.n_rounds, game.lipschitz
    batch_size = max(1, round(1 / (2 * epsilon * math.log(1 / game.delta))))
    eta = epsilon ** (2 / 3) / (T ** (1 / 3) * math.log(T / game.delta))
    strong = max(math.sqrt(T), math.sqrt(game.dimension * math.log(T)) / eta)
    regulariser = L / game.diameter * strong
    beta = eta**2 * regulariser / (20 * L**2)
    p = min(eta / epsilon, 1.0)
    return _accounted(game, batch_size, eta, p, beta, regulariser, NORMALISERS["published"])


def _accounted(
    game: ConvexGame,
    batch_size: int,
    eta: float,
    p: float,
    beta: float,
    regulariser: float,
    normaliser: float = 1.0,
    objective: float = math.nan,
) -> ConvexParameters:
    epsilon = convex_epsilon(game, batch_size, eta, p, beta, regulariser, normaliser)
    return ConvexParameters(
        batch_size,
        eta,
        fake_switch=p,
        normaliser=normaliser,
        epsilon=epsilon,
        beta=beta,
        regulariser=regulariser,
        objective=objective,
    )

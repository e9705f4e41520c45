"""Play L2P for online convex optimisation and its competitors, and measure regret."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, cast

import pandas as pd

from dpol.core.intervals import add_intervals
from dpol.core.randomness import Key, ReplicateGenerators, replicate_generators
from dpol.lazy.convex.accounting import (
    ConvexGame,
    ConvexParameters,
    choose_convex_parameters,
    theorem_3_12,
)
from dpol.lazy.convex.bodies import BODIES, Body, BodyName
from dpol.lazy.convex.comparators import (
    NOISES,
    best_regulariser,
    gradient_descent,
    private_ftrl,
)
from dpol.lazy.convex.lazy_weights import choose_lazy_weights, play_lazy_weights
from dpol.lazy.convex.leader import (
    CoupledLeader,
    CoupledParameters,
    choose_coupled,
    smoothness,
)
from dpol.lazy.convex.losses import (
    ConvexLosses,
    LossName,
    drifting_losses,
    linked_losses,
    total_loss,
)
from dpol.lazy.convex.measure import measure_for
from dpol.lazy.transform import play
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.studies.jobs import read_rows
from dpol.studies.paper2.convex.points import ConvexPoint
from dpol.studies.paper2.convex.settings import COUPLED, LINEAR, ONE_POINT, Convex
from dpol.studies.paper2.lazy.regrets import MEANS, central_guarantee, pairs_of, regrets
from dpol.studies.replicates import joined_row
from dpol.studies.study import Facts, FileLists, Inputs

POINT = ConvexPoint
DIAMETER, LIPSCHITZ = 2.0, 1.0
"""Diameter D of the body, and Lipschitz constant L of the losses."""


def run(point: ConvexPoint, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """Return a row per epsilon and algorithm, without intervals.

    There is no row if no parameters of L2P reach epsilon. Each replicate has losses of its own, on
    which all algorithms play.
    """
    parts = [list(_rows(point, replicate, inputs.seed)) for replicate in range(point.replicates)]
    return {"convex": pd.DataFrame([joined_row(rows, MEANS) for rows in zip(*parts, strict=True)])}


def _rows(point: ConvexPoint, replicate: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of a replicate."""
    T, d = point.n_rounds, point.dimension
    loss_name, body_name = point.game.split("-")
    body = BODIES[cast("BodyName", body_name)](d, DIAMETER)
    linear = drifting_losses(T, d, LIPSCHITZ, seed, replicate)
    losses: ConvexLosses = linear
    if loss_name != "linear":
        losses = linked_losses(cast("LossName", loss_name), linear, body, seed, replicate)
    least = losses.least_total(body)
    free = regrets(total_loss(losses, gradient_descent(losses, body)) - least)
    still = total_loss(losses, itertools.repeat(body.centre[None], T)) - least
    for epsilon in point.epsilons:
        # Linear losses on a ball keep a key of their own, since the key seeds the generators.
        key = ("convex", "linear" if point.game == LINEAR else point.game, T, d, float(epsilon))

        def coins(name: str, key: Key = key) -> ReplicateGenerators:
            return replicate_generators(seed, key, [replicate], f"algorithm {name}")

        private = _private(point, losses, body, epsilon, coins, least)
        for algorithm, row in (*private, ("gradient-descent", free)):
            accountant = "sound" if algorithm.startswith(("l2p", ONE_POINT)) else ""
            yield {
                "loss": loss_name,
                "body": body_name,
                "T": T,
                "d": d,
                "epsilon": epsilon,
                "still_regret": still,
                "delta": point.delta,
                "limit": math.nan,
                "sigma": math.nan,
                "algorithm": algorithm,
                "accountant": "published" if algorithm == COUPLED else accountant,
                **row,
            }


def collect(files: FileLists, settings: Convex, facts: Facts) -> dict[str, pd.DataFrame]:
    """Return the rows of all points, with intervals that hold together, and pairs of algorithms."""
    whole, errors = read_rows(files["convex"]), {"standard_error": "ci_half_width"}
    game = ["loss", "body", "T", "d", "epsilon"]
    return {
        "convex": add_intervals(whole, errors, facts.confidence),
        "convex_pairs": pairs_of(whole, game, facts.confidence),
    }


@lru_cache(maxsize=64)
def _parameters(
    game: ConvexGame, beta: float | None, epsilon: float
) -> Mapping[str, ConvexParameters | CoupledParameters]:
    """Return the parameters of L2P and its predecessors that reach epsilon.

    `beta` is the smoothness of the losses; None if CTRL cannot play.
    """
    searches: dict[str, Callable[..., ConvexParameters | CoupledParameters]] = {
        "l2p-sound": choose_convex_parameters,
        "l2p-one-round": partial(choose_convex_parameters, largest_batch=1),
        "l2p-theorem-3.12": theorem_3_12,
        ONE_POINT: choose_lazy_weights,
    }
    if beta is not None:
        searches[COUPLED] = partial(choose_coupled, beta=beta)
    chosen = {}
    for name, search in searches.items():
        with suppress(ValueError):  # No parameters reach epsilon.
            chosen[name] = search(game, epsilon=epsilon)
    return chosen


def _private(
    point: ConvexPoint,
    losses: ConvexLosses,
    body: Body,
    epsilon: float,
    coins: Callable[[str], ReplicateGenerators],
    least: float,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each private algorithm with the columns of its regret.

    `coins` makes the generators of an algorithm; `least` is the total loss of the best point.
    """
    L, delta = losses.lipschitz, point.delta
    game = ConvexGame(
        n_rounds=losses.n_rounds,
        dimension=losses.dimension,
        diameter=DIAMETER,
        lipschitz=L,
        delta=delta,
    )
    chosen = _parameters(game, smoothness(losses, body), epsilon)
    for name, parameters in chosen.items():
        if isinstance(parameters, CoupledParameters):
            mechanism = "coupled minimisers of noisy sums of losses (CTRL)"
            leader = CoupledLeader(losses=losses, body=body, parameters=parameters)
            total, redraws = play(leader, parameters, leader, coins(name))
        else:
            rule, play_rule = "L2P", play
            if name == ONE_POINT:
                rule, play_rule = "ratio of densities", play_lazy_weights
            mechanism = f"lazy resampling from regularised multiplicative weights ({rule})"
            measure = measure_for(
                losses, body, beta=parameters.beta, regulariser=parameters.regulariser
            )
            total, redraws = play_rule(measure, parameters, losses, coins(name))
        guarantee = central_guarantee(
            mechanism,
            L,
            "Lipschitz constant, loss",
            epsilon_delta=(parameters.epsilon, delta),
        )
        yield name, regrets(total - least, redraws, guarantee, parameters)
    mu = mu_of_epsilon(epsilon, delta)
    for name, noise in NOISES.items():
        points = private_ftrl(
            losses,
            body,
            noise,
            mu=mu,
            regulariser=best_regulariser(losses, body, noise, mu),
            generators=coins(name),
        )
        guarantee = central_guarantee(noise.mechanism, 2 * L, "L2, gradient", mu=mu)
        yield name, regrets(total_loss(losses, points) - least, guarantee=guarantee)

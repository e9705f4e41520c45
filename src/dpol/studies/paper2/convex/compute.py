"""Play L2P for online convex optimisation and its competitors, and measure regret."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from contextlib import suppress
from typing import cast

import pandas as pd

from dpol.core.intervals import add_intervals
from dpol.core.randomness import ReplicateGenerators, replicate_generators
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
from dpol.studies.paper2.lazy.regrets import central_guarantee, regret_row
from dpol.studies.study import Facts, FileLists, Inputs

POINT = ConvexPoint


def run(point: ConvexPoint, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """Return a row per epsilon and algorithm, without intervals.

    There is no row if no parameters of L2P reach epsilon.
    """
    T, d = point.n_rounds, point.dimension
    loss_name, body_name = point.game.split("-")
    body = BODIES[cast("BodyName", body_name)](d, point.diameter)
    linear = drifting_losses(T, d, point.lipschitz, inputs.seed)
    losses: ConvexLosses = linear
    if loss_name != "linear":
        losses = linked_losses(cast("LossName", loss_name), linear, body, inputs.seed)
    least = losses.least_total(body)
    # Gradient descent has no randomness, so every replicate is the same.
    plain = total_loss(losses, gradient_descent(losses, body)).repeat(point.replicates)
    without = ("gradient-descent", regret_row(plain - least))
    still = float(total_loss(losses, itertools.repeat(body.centre[None], T))[0]) - least
    rows = []
    for epsilon in point.epsilons:
        # Linear losses on a ball keep a key of their own, since the key seeds the generators.
        key = ("convex", "linear" if point.game == LINEAR else point.game, T, d, float(epsilon))
        private = _private_rows(point, losses, body, least, epsilon, (inputs.seed, key))
        for algorithm, row in (*private, without):
            setting = {
                "loss": loss_name,
                "body": body_name,
                "T": T,
                "d": d,
                "epsilon": epsilon,
                "still_regret": still,
                "delta": point.delta,
                "limit": math.nan,
                "sigma": math.nan,
            }
            accountant = "sound" if algorithm.startswith(("l2p", ONE_POINT)) else ""
            accountant = "published" if algorithm == COUPLED else accountant
            rows.append({**setting, "algorithm": algorithm, "accountant": accountant, **row})
    return {"convex": pd.DataFrame(rows)}


def collect(files: FileLists, settings: Convex, facts: Facts) -> dict[str, pd.DataFrame]:
    """Return the rows of all points, with intervals that hold together."""
    errors = {"standard_error": "ci_half_width"}
    return {"convex": add_intervals(read_rows(files["convex"]), errors, facts.confidence)}


def _private_rows(
    point: ConvexPoint,
    losses: ConvexLosses,
    body: Body,
    least: float,
    epsilon: float,
    seeds: tuple[int, tuple[str | int | float, ...]],
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the rows of the private algorithms; `seeds` is the root seed and the game's key."""
    L, delta = losses.lipschitz, point.delta

    def generators(name: str) -> ReplicateGenerators:
        return replicate_generators(*seeds, range(point.replicates), f"algorithm {name}")

    game = ConvexGame(
        n_rounds=losses.n_rounds,
        dimension=losses.dimension,
        diameter=point.diameter,
        lipschitz=L,
        delta=delta,
    )
    chosen: dict[str, ConvexParameters | CoupledParameters] = {}
    for name, largest_batch in (("l2p-sound", None), ("l2p-one-round", 1)):
        with suppress(ValueError):  # No parameters reach epsilon.
            chosen[name] = choose_convex_parameters(
                game, epsilon=epsilon, largest_batch=largest_batch
            )
    chosen["l2p-theorem-3.12"] = theorem_3_12(game, epsilon=epsilon)
    with suppress(ValueError):
        chosen[ONE_POINT] = choose_lazy_weights(game, epsilon=epsilon)
    with suppress(ValueError):  # Or it cannot play this game.
        chosen[COUPLED] = choose_coupled(game, smoothness(losses, body), epsilon=epsilon)
    for name, parameters in chosen.items():
        if isinstance(parameters, CoupledParameters):
            mechanism = "coupled minimisers of noisy sums of losses (CTRL)"
            leader = CoupledLeader(losses=losses, body=body, parameters=parameters)
            total, redraws = play(leader, parameters, leader, generators(name))
        else:
            rule, play_rule = "L2P", play
            if name == ONE_POINT:
                rule, play_rule = "ratio of densities", play_lazy_weights
            mechanism = f"lazy resampling from regularised multiplicative weights ({rule})"
            measure = measure_for(
                losses, body, beta=parameters.beta, regulariser=parameters.regulariser
            )
            total, redraws = play_rule(measure, parameters, losses, generators(name))
        guarantee = central_guarantee(
            mechanism,
            L,
            "Lipschitz constant, loss",
            epsilon_delta=(parameters.epsilon, delta),
        )
        yield name, regret_row(total - least, redraws, guarantee, parameters)
    mu = mu_of_epsilon(epsilon, delta)
    for name, noise in NOISES.items():
        points = private_ftrl(
            losses,
            body,
            noise,
            mu=mu,
            regulariser=best_regulariser(losses, body, noise, mu),
            generators=generators(name),
        )
        guarantee = central_guarantee(noise.mechanism, 2 * L, "L2, gradient", mu=mu)
        yield name, regret_row(total_loss(losses, points) - least, guarantee=guarantee)

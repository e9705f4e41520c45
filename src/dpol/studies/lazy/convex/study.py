"""Regret of L2P for online convex optimisation and of its competitors, on linear losses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pandas as pd

from dpol.core.intervals import add_intervals
from dpol.core.randomness import ReplicateGenerators, replicate_generators
from dpol.lazy.transform import play
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.studies.lazy.convex.accounting import (
    ConvexGame,
    ConvexParameters,
    choose_convex_parameters,
    theorem_3_12,
)
from dpol.studies.lazy.convex.comparators import best_regulariser, gradient_descent, private_ftrl
from dpol.studies.lazy.convex.losses import LinearLosses, drifting_losses
from dpol.studies.lazy.convex.measure import RegularisedWeights
from dpol.studies.lazy.convex.settings import Convex
from dpol.studies.lazy.regrets import central_guarantee, regret_row
from dpol.studies.study import Facts, Frames, Inputs, Point


def run(settings: Convex, point: Point, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """One row per epsilon and algorithm, without intervals.

    Where no parameters of L2P reach epsilon there is no row.
    """
    T, d, D = point["n_rounds"], point["dimension"], settings.diameter
    losses = drifting_losses(T, d, settings.lipschitz, inputs.seed)
    # It has no randomness: every replicate is the same.
    plain = losses.total(gradient_descent(losses, D)).repeat(settings.replicates)
    without = ("gradient-descent", regret_row(plain - losses.least_total(D)))
    rows = []
    for epsilon in settings.epsilons:
        for algorithm, row in (*_private_rows(settings, losses, epsilon, inputs.seed), without):
            setting = {"T": T, "d": d, "epsilon": epsilon, "delta": settings.delta}
            accountant = "sound" if algorithm.startswith("l2p") else ""
            rows.append({**setting, "algorithm": algorithm, "accountant": accountant, **row})
    return {"convex": pd.DataFrame(rows)}


def collect(frames: Frames, settings: Convex, facts: Facts) -> dict[str, pd.DataFrame]:
    """All points as one table, with intervals that hold together."""
    errors = {"standard_error": "ci_half_width"}
    return {"convex": add_intervals(frames["convex"], errors, facts.confidence)}


def _private_rows(
    settings: Convex, losses: LinearLosses, epsilon: float, seed: int
) -> Iterator[tuple[str, dict[str, object]]]:
    d, D, L, delta = losses.dimension, settings.diameter, losses.lipschitz, settings.delta
    least = losses.least_total(D)

    def generators(name: str) -> ReplicateGenerators:
        key = ("convex", "linear", losses.n_rounds, d, float(epsilon))
        return replicate_generators(seed, key, range(settings.replicates), f"algorithm {name}")

    game = ConvexGame(n_rounds=losses.n_rounds, dimension=d, diameter=D, lipschitz=L, delta=delta)
    chosen: dict[str, ConvexParameters] = {}
    for name, largest_batch in (("l2p-sound", None), ("l2p-one-round", 1)):
        with suppress(ValueError):  # No parameters reach epsilon.
            chosen[name] = choose_convex_parameters(
                game, epsilon=epsilon, largest_batch=largest_batch
            )
    chosen["l2p-theorem-3.12"] = theorem_3_12(game, epsilon=epsilon)
    for name, parameters in chosen.items():
        guarantee = central_guarantee(
            "lazy resampling from regularised multiplicative weights (L2P)",
            L,
            "Lipschitz constant, loss",
            epsilon_delta=(parameters.epsilon, delta),
        )
        measure = RegularisedWeights(
            dimension=d, diameter=D, beta=parameters.beta, regulariser=parameters.regulariser
        )
        total, redraws = play(measure, parameters, losses, generators(name))
        yield name, regret_row(total - least, redraws, guarantee, parameters)
    mu = mu_of_epsilon(epsilon, delta)
    tree = "Gaussian noise on tree-aggregated sums of gradients"
    weight = best_regulariser(losses, mu, D)
    private = losses.total(private_ftrl(losses, mu, D, weight, generators("dp-ftrl")))
    guarantee = central_guarantee(tree, 2 * L, "L2, gradient", mu=mu)
    yield "dp-ftrl", regret_row(private - least, guarantee=guarantee)

"""Play L2P for online convex optimisation and its competitors, and measure regret."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpol.core.randomness import replicate_generators
from dpol.lazy.convex.accounting import (
    ConvexGame,
    ConvexParameters,
    choose_convex_parameters,
    theorem_3_12,
)
from dpol.lazy.convex.ball import Ball
from dpol.lazy.convex.comparators import NOISES, best_regulariser, gradient_descent, private_ftrl
from dpol.lazy.convex.losses import LinearLosses, LogisticLosses, drifting_losses, total_loss
from dpol.lazy.convex.measure import measure_for
from dpol.lazy.transform import play_measure
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.privacy.settings import DELTA
from dpol.studies.jobs import read_points
from dpol.studies.paper2.convex.settings import Convex, LossName
from dpol.studies.paper2.lazy.regrets import central_guarantee, compared, regrets
from dpol.studies.study import Facts, FileLists, Inputs

if TYPE_CHECKING:
    import pandas as pd

POINT = Convex
DIAMETER, LIPSCHITZ = 2.0, 1.0
"""Diameter D of the ball, and Lipschitz constant L of the losses."""


def run(point: Convex, inputs: Inputs) -> dict[str, list[dict[str, Any]]]:
    """Return a row per T, d, kind of losses, epsilon and algorithm, without intervals.

    There is no row if no parameters of L2P reach epsilon. Each replicate has losses of its own, on
    which all algorithms play.
    """
    games = itertools.product(point.n_rounds, point.dimensions, point.losses)
    return {"convex": [row for game in games for row in _rows(*game, point, inputs.seed)]}


def _rows(T: int, d: int, loss: LossName, point: Convex, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of the games of T rounds in d dimensions."""
    ball, replicates = Ball(d, DIAMETER), range(point.replicates)
    drawn = [drifting_losses(T, d, LIPSCHITZ, seed, r).vectors for r in replicates]
    kind = LinearLosses if loss == "linear" else LogisticLosses
    losses = kind(np.stack(drawn, axis=1), LIPSCHITZ)
    least = np.array([kind(vectors, LIPSCHITZ).least_total(ball) for vectors in drawn])
    still = total_loss(losses, itertools.repeat(ball.centre[None], T))
    free = regrets(total_loss(losses, gradient_descent(losses, ball)) - least)
    game = ConvexGame(n_rounds=T, dimension=d, diameter=DIAMETER, lipschitz=LIPSCHITZ, delta=DELTA)
    for epsilon in point.epsilons:
        key = ("convex", loss, T, d, float(epsilon))
        generators = partial(replicate_generators, seed, key, replicates)
        found = {}
        for name, parameters in _parameters(game, epsilon).items():
            measure = measure_for(
                losses, ball, beta=parameters.beta, regulariser=parameters.regulariser
            )
            total, redraws = play_measure(
                measure, parameters, losses, generators(f"algorithm {name}")
            )
            guarantee = central_guarantee(
                "lazy resampling from regularised multiplicative weights (L2P)",
                LIPSCHITZ,
                "Lipschitz constant, loss",
                epsilon_delta=(parameters.epsilon, DELTA),
            )
            row = regrets(total - least, redraws, guarantee, parameters)
            found[name] = {**row, "accountant": "sound"}
        mu = mu_of_epsilon(epsilon, DELTA)
        for name, noise in NOISES.items():
            weight = best_regulariser(losses, ball, noise, mu)
            played = private_ftrl(
                losses,
                ball,
                noise,
                mu=mu,
                regulariser=weight,
                generators=generators(f"algorithm {name}"),
            )
            guarantee = central_guarantee(noise.mechanism, 2 * LIPSCHITZ, "L2, gradient", mu=mu)
            found[name] = regrets(total_loss(losses, played) - least, guarantee=guarantee)
        for algorithm, row in {**found, "gradient-descent": free}.items():
            yield {
                "loss": loss,
                "T": T,
                "d": d,
                "epsilon": epsilon,
                "replicates": point.replicates,
                "still_regret": float((still - least).mean()),
                "delta": DELTA,
                "algorithm": algorithm,
                "accountant": "",
                **row,
            }


def collect(files: FileLists, settings: Convex, facts: Facts) -> dict[str, pd.DataFrame]:
    """Return the rows of all points, with intervals that hold together, and pairs of algorithms."""
    game = ["loss", "T", "d", "epsilon"]
    return compared("convex", read_points(files["convex"]), game, facts.confidence)


@lru_cache(maxsize=64)
def _parameters(game: ConvexGame, epsilon: float) -> Mapping[str, ConvexParameters]:
    """Return the parameters of L2P that reach epsilon, and those of Theorem 3.12."""
    searches: dict[str, Callable[..., ConvexParameters]] = {
        "l2p-sound": choose_convex_parameters,
        "l2p-one-round": partial(choose_convex_parameters, largest_batch=1),
        "l2p-theorem-3.12": theorem_3_12,
    }
    chosen = {}
    for name, search in searches.items():
        with suppress(ValueError):  # No parameters reach epsilon.
            chosen[name] = search(game, epsilon=epsilon)
    return chosen

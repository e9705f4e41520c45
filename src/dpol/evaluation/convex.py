"""Regret of L2P for online convex optimisation beside its competitors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpol.convex.follow_the_leader import PrivateFTRL
from dpol.convex.gradient_descent import OnlineGradientDescent
from dpol.convex.losses import LinearLosses, LogisticLosses
from dpol.convex.measure import RegularisedLogisticWeights, RegularisedWeights
from dpol.core.intervals import with_half_widths
from dpol.core.logs import progress
from dpol.core.randomness import Floats, ReplicateGenerators, replicate_generators, seed_sequence
from dpol.lazy.transform import LazyParameters, Measure, Normaliser, advance, start
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.privacy.guarantee import NO_PRIVACY, ONE_ROUND, WHOLE_LOSSES, Guarantee
from dpol.privacy.lazy_convex import ConvexCalibration, ConvexGame, calibrate_convex, theorem_3_12
from dpol.studies.pending import Convex

Losses = LinearLosses | LogisticLosses


@dataclass(frozen=True)
class ConvexRun:
    """What one algorithm did: (R,) total losses and redraws, and how it was calibrated."""

    algorithm: str
    losses: Floats
    redraws: Floats
    calibration: ConvexCalibration | None = None


def make_losses(family: str, n_rounds: int, dimension: int, lipschitz: float, seed: int) -> Losses:
    """Losses with a direction to learn: gradients or features of norm `lipschitz`.

    `linear`: unit vectors around a drift of length 0.3; `logistic`: uniform directions, labels
    from a logistic model with a hidden parameter.
    """
    rng = np.random.default_rng(seed_sequence(seed, ("convex losses", family, dimension)))
    hidden = rng.standard_normal(dimension)
    hidden /= np.linalg.norm(hidden)
    vectors = rng.standard_normal((n_rounds, dimension))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    if family == "linear":
        gradients = 0.7 * vectors + 0.3 * hidden
        return LinearLosses(lipschitz * gradients, lipschitz)
    odds = 4 * vectors @ hidden
    labels = np.where(rng.random(n_rounds) < 1 / (1 + np.exp(-odds)), 1.0, -1.0)
    # One part in 10^9 less, because rounding may lift a norm above the limit.
    return LogisticLosses(lipschitz * (1 - 1e-9) * vectors, labels, lipschitz)


def run_lazy_convex(
    losses: Losses,
    diameter: float,
    found: ConvexCalibration,
    normaliser: Normaliser,
    steps: int,
    generators: ReplicateGenerators,
) -> tuple[Floats, Floats]:
    """Total losses (R,) and redraws (R,) of L2P over regularised multiplicative weights."""
    parameters = LazyParameters(found.batch_size, found.eta, found.fake_switch, normaliser)
    measure = _measure(losses, diameter, found, steps)
    state = start(measure, generators)
    total = np.zeros(generators.n_replicates)
    before: slice | None = None
    for first in range(0, losses.n_rounds, found.batch_size):
        rounds = slice(first, min(first + found.batch_size, losses.n_rounds))
        if before is not None:
            state = advance(measure, parameters, state, _batch(losses, before), generators)
        total += losses.value(rounds, state.played)
        before = rounds
    return total, state.redraws.astype(float)


def _measure(losses: Losses, diameter: float, found: ConvexCalibration, steps: int) -> Measure:
    if isinstance(losses, LinearLosses):
        return RegularisedWeights(losses.dimension, diameter, found.beta, found.regulariser)
    return RegularisedLogisticWeights(losses, diameter, found.beta, found.regulariser, steps)


def _batch(losses: Losses, rounds: slice) -> Any:
    if isinstance(losses, LinearLosses):
        return losses.total(rounds)
    return (rounds.start, rounds.stop)


def study_convex(study: Convex, *, seed: int, confidence: float = 0.95) -> pd.DataFrame:
    """One row per family, T, d, epsilon and algorithm (columns: docs/reference/tables.md).

    Args:
        study: the settings.
        seed: root seed.
        confidence: of the intervals of all rows together.
    """
    rows, regrets = [], []
    settings = list(itertools.product(study.families, study.n_rounds, study.dimensions))
    for family, T, d in progress(settings, "convex, settings"):
        if family == "logistic" and study.largest_logistic < T:
            continue
        losses = make_losses(family, T, d, study.lipschitz, seed)
        best = losses.best_fixed_point(study.diameter)
        least = float(losses.value(slice(0, T), best[None])[0])
        for epsilon in study.epsilons:
            for run in _runs(study, losses, family, epsilon, seed):
                regret = run.losses - least
                regrets.append(regret)
                rows.append(
                    {
                        "family": family,
                        "T": T,
                        "d": d,
                        "epsilon": epsilon,
                        "delta": study.delta,
                        "algorithm": run.algorithm,
                        "accountant": "sound" if run.calibration else "",
                        **_parameters(run.calibration),
                        "replicates": len(regret),
                        "mean_regret": regret.mean(),
                        "redraws": run.redraws.mean(),
                        **_guarantee(run, study, epsilon).as_columns(),
                    }
                )
    return with_half_widths(pd.DataFrame(rows), {"ci_half_width": regrets}, confidence)


def _runs(
    study: Convex, losses: Losses, family: str, epsilon: float, seed: int
) -> Iterator[ConvexRun]:
    def generators(name: str) -> ReplicateGenerators:
        key = ("convex", family, losses.n_rounds, losses.dimension, float(epsilon))
        return replicate_generators(seed, key, range(study.replicates), f"algorithm {name}")

    game = ConvexGame(
        losses.n_rounds, losses.dimension, study.diameter, study.lipschitz, study.delta
    )
    calibrations: list[tuple[str, ConvexCalibration, Normaliser]] = []
    # Where no parameters reach epsilon there is no row.
    if found := _calibrated(game, epsilon):
        calibrations.append(("l2p-sound", found, "tight"))
    calibrations.append(("l2p-theorem-3.12", theorem_3_12(game, epsilon=epsilon), "published"))
    for name, found, normaliser in calibrations:
        total, redraws = run_lazy_convex(
            losses, study.diameter, found, normaliser, study.steps, generators(name)
        )
        yield ConvexRun(name, total, redraws, found)
    mu = mu_of_epsilon(epsilon, study.delta)
    private = PrivateFTRL(mu, study.diameter).play(losses, generators("dp-ftrl"))
    nothing = np.full(study.replicates, math.nan)
    yield ConvexRun("dp-ftrl", private.total_losses, nothing)
    plain = OnlineGradientDescent(study.diameter).play(losses)
    # It has no randomness: every replicate is the same.
    yield ConvexRun("gradient-descent", plain.total_losses.repeat(study.replicates), nothing)


def _calibrated(game: ConvexGame, epsilon: float) -> ConvexCalibration | None:
    try:
        return calibrate_convex(game, epsilon=epsilon)
    except ValueError:
        return None


def _guarantee(run: ConvexRun, study: Convex, epsilon: float) -> Guarantee:
    """What is guaranteed of a change of one round's loss."""
    if run.algorithm == "gradient-descent":
        return NO_PRIVACY
    found = run.calibration
    return Guarantee(
        mechanism="lazy resampling from regularised multiplicative weights (L2P)"
        if found
        else "Gaussian noise on tree-aggregated sums of gradients",
        adjacency=WHOLE_LOSSES,
        unit=ONE_ROUND,
        sensitivity=study.lipschitz if found else 2 * study.lipschitz,
        sensitivity_unit="Lipschitz constant, loss" if found else "L2, gradient",
        mu=math.nan if found else mu_of_epsilon(epsilon, study.delta),
        model="central",
        sampler="seeded",
        epsilon_delta=(found.epsilon, study.delta) if found else None,
    )


def _parameters(found: ConvexCalibration | None) -> dict[str, float]:
    names = ("batch_size", "eta", "fake_switch", "beta", "regulariser")
    if found is None:
        return {**dict.fromkeys(names, math.nan), "accounted_epsilon": math.nan}
    return {**{name: getattr(found, name) for name in names}, "accounted_epsilon": found.epsilon}

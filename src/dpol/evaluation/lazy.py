"""Regret of L2P for experts beside its competitors, on synthetic losses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.intervals import with_half_widths
from dpol.core.logs import progress
from dpol.core.randomness import Floats, ReplicateGenerators, replicate_generators
from dpol.lazy.adversaries import EpochLosses, GapLosses, Losses, best_loss
from dpol.lazy.transform import NORMALISERS, LazyParameters, Normaliser, advance, start
from dpol.lazy.weights import WeightsMeasure
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.privacy.guarantee import NO_PRIVACY, ONE_ROUND, WHOLE_LOSSES, Guarantee
from dpol.privacy.lazy_accounting import LazyCalibration, LazyGame, calibrate, theorem_3_10
from dpol.privacy.tree_noise import TreeNoise, tree_levels
from dpol.studies.pending import Lazy


@dataclass(frozen=True)
class LazyRun:
    """What one algorithm did on one loss sequence: (R,) total losses and redraws of x."""

    losses: Floats
    redraws: Floats


def run_lazy(
    losses: Losses, parameters: LazyParameters, generators: ReplicateGenerators
) -> LazyRun:
    """L2P over multiplicative weights; cost per round does not depend on T."""
    measure = WeightsMeasure(losses.n_experts, parameters.eta)
    state = start(measure, generators)
    total = np.zeros(generators.n_replicates)
    batch: Floats | None = None
    for rounds in losses.batches(parameters.batch_size):
        if batch is not None:
            state = advance(measure, parameters, state, batch, generators)
        batch = rounds.sum(axis=0)
        total += batch[state.played]
    return LazyRun(total, state.redraws.astype(float))


@lru_cache(maxsize=64)
def weights_loss(losses: Losses) -> float:
    """Expected total loss of multiplicative weights without privacy: e = sqrt(8 log(d) / T)."""
    rate = math.sqrt(8 * math.log(losses.n_experts) / losses.n_rounds)
    measure = WeightsMeasure(losses.n_experts, rate)
    state, total = measure.initial(), 0.0
    for rounds in losses.batches(1):
        total += float(rounds[0] @ measure.probabilities(state))
        state = measure.absorb(state, rounds[0])
    return total


def run_tree(losses: Losses, mu: float, generators: ReplicateGenerators) -> LazyRun:
    """Tree FTPL of least noise at mu for arbitrary losses in [0, 1]: L2 sensitivity sqrt(d)."""
    d, levels = losses.n_experts, tree_levels(losses.n_rounds)
    scale = math.sqrt(d * levels) / mu
    replicates = generators.n_replicates
    prefix, total = np.zeros(d), np.zeros(replicates)
    tree = TreeNoise()
    switches, last = np.zeros(replicates), np.full(replicates, -1)
    for rounds in losses.batches(1):
        # Every prefix has the noise of as many nodes as the one with the most.
        noise = math.sqrt(levels - len(tree.nodes)) * scale * generators.standard_normal(d)
        chosen = (prefix + noise + tree.total()).argmin(axis=1)
        switches += chosen != last
        last = chosen
        total += rounds[0][chosen]
        prefix += rounds[0]
        tree = tree.next(scale * generators.standard_normal(d))
    return LazyRun(total, switches - 1)


def study_lazy(study: Lazy, *, seed: int, confidence: float = 0.95) -> pd.DataFrame:
    """One row per adversary, T, d, epsilon and algorithm (columns: docs/reference/tables.md).

    Settings at which an algorithm cannot be calibrated have no row for it.

    Args:
        study: the settings.
        seed: root seed.
        confidence: of the intervals of all rows together.
    """
    rows, regrets = [], []
    settings = list(itertools.product(study.n_rounds, study.n_experts, study.epsilons))
    for T, d, epsilon in progress(settings, "lazy, settings"):
        for adversary, losses in _adversaries(T, d, epsilon, study.gap, seed):
            best = best_loss(losses)
            for algorithm, found, run in _runs(study, losses, epsilon, seed):
                regret = run.losses - best
                regrets.append(regret)
                rows.append(
                    {
                        "adversary": adversary,
                        "T": T,
                        "d": d,
                        "epsilon": epsilon,
                        "delta": study.delta,
                        "algorithm": algorithm,
                        **_parameters(found),
                        "replicates": len(regret),
                        "mean_regret": regret.mean(),
                        "redraws": run.redraws.mean(),
                        **_guarantee(algorithm, found, d, epsilon, study.delta).as_columns(),
                    }
                )
    return with_half_widths(pd.DataFrame(rows), {"ci_half_width": regrets}, confidence)


def _adversaries(
    T: int, d: int, epsilon: float, gap: float, seed: int
) -> Iterator[tuple[str, Losses]]:
    yield "stochastic", GapLosses(T, d, gap, seed)
    yield "lower-bound", EpochLosses(T, d, epsilon, seed)


def _runs(
    study: Lazy, losses: Losses, epsilon: float, seed: int
) -> Iterator[tuple[str, LazyCalibration | None, LazyRun]]:
    def generators(name: str) -> ReplicateGenerators:
        key = (type(losses).__name__, losses.n_rounds, losses.n_experts, float(epsilon))
        return replicate_generators(seed, key, range(study.replicates), f"algorithm {name}")

    for name, normaliser, found in _calibrations(study, losses, epsilon):
        parameters = LazyParameters(found.batch_size, found.eta, found.fake_switch, normaliser)
        yield name, found, run_lazy(losses, parameters, generators(name))
    expected = np.full(study.replicates, weights_loss(losses))
    yield "multiplicative-weights", None, LazyRun(expected, np.full(study.replicates, math.nan))
    if losses.n_rounds * losses.n_experts <= study.largest_tree:
        name, mu = "tree-ftpl-min-noise", mu_of_epsilon(epsilon, study.delta)
        yield name, None, run_tree(losses, mu, generators(name))


def _calibrations(
    study: Lazy, losses: Losses, epsilon: float
) -> Iterator[tuple[str, Normaliser, LazyCalibration]]:
    """L2P by each accountant that reaches epsilon, and with the parameters of Theorem 3.10."""
    games: dict[Normaliser, LazyGame] = {
        name: LazyGame(losses.n_rounds, study.delta, 1.0, scale)
        for name, scale in NORMALISERS.items()
    }
    d = losses.n_experts
    for accountant in study.accountants:
        normaliser: Normaliser = "published" if accountant == "published" else "tight"
        try:
            found = calibrate(
                games[normaliser], epsilon=epsilon, n_experts=d, accountant=accountant
            )
        except ValueError:
            continue
        yield f"l2p-{accountant}", normaliser, found
    preset = theorem_3_10(games["published"], epsilon=epsilon, n_experts=d)
    yield "l2p-theorem-3.10", "published", preset


def _guarantee(
    algorithm: str, found: LazyCalibration | None, d: int, epsilon: float, delta: float
) -> Guarantee:
    """What is guaranteed of a change of one round's whole loss vector, losses in [0, 1]."""
    if algorithm == "multiplicative-weights":
        return NO_PRIVACY
    return Guarantee(
        mechanism="lazy resampling from multiplicative weights (L2P)"
        if found
        else "Gaussian noise on tree-aggregated prefix sums",
        adjacency=WHOLE_LOSSES,
        unit=ONE_ROUND,
        sensitivity=1.0 if found else math.sqrt(d),
        sensitivity_unit="L-infinity, loss" if found else "L2, loss",
        mu=math.nan if found else mu_of_epsilon(epsilon, delta),
        model="central",
        sampler="seeded",
        epsilon_delta=(found.epsilon, delta) if found else None,
    )


def _parameters(found: LazyCalibration | None) -> dict[str, Any]:
    if found is None:
        return dict.fromkeys(("batch_size", "eta", "fake_switch", "accounted_epsilon"), math.nan)
    return {
        "batch_size": found.batch_size,
        "eta": found.eta,
        "fake_switch": found.fake_switch,
        "accounted_epsilon": found.epsilon,
    }

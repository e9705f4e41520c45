"""Regret of L2P for experts beside its competitors, on synthetic losses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.intervals import add_intervals
from dpol.core.randomness import Floats, ReplicateGenerators, replicate_generators
from dpol.lazy.accounting import Accountant, LazyGame
from dpol.lazy.adversaries import EpochLosses, GapLosses, Losses, best_loss
from dpol.lazy.parameters import AccountedParameters, choose_parameters, theorem_3_10
from dpol.lazy.transform import NORMALISERS, play
from dpol.lazy.weights import WeightsMeasure
from dpol.privacy.factorizations import prefix_sums_times
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.privacy.tree_noise import TreeNoise, tree_levels
from dpol.studies.lazy.regrets import central_guarantee, regret_row
from dpol.studies.lazy.settings import (
    ADVERSARIES,
    MATRIX,
    ONE_ROUND,
    PRESET,
    TREE,
    WEIGHTS,
    Lazy,
    algorithms_of,
)
from dpol.studies.study import Facts, Frames, Inputs, Point


def run(settings: Lazy, point: Point, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """One row per epsilon, adversary and algorithm of a point, without intervals.

    Multiplicative weights share their work across epsilons. Where no parameters of L2P reach
    epsilon there is no row.
    """
    rows, T, d = [], point["n_rounds"], point["n_experts"]
    games = itertools.product(settings.epsilons, point["adversaries"], point["algorithms"])
    for epsilon, adversary, algorithm in games:
        losses: Losses = EpochLosses(T, d, epsilon, inputs.seed)
        if adversary == "stochastic":
            losses = GapLosses(T, d, settings.gap, inputs.seed)
        found = _play(settings, losses, algorithm, epsilon, inputs.seed)
        if found is not None:
            setting = {"adversary": adversary, "T": T, "d": d, "epsilon": epsilon}
            rows.append({**setting, "delta": settings.delta, "algorithm": algorithm, **found})
    return {"lazy": pd.DataFrame(rows)}


def collect(frames: Frames, settings: Lazy, facts: Facts) -> dict[str, pd.DataFrame]:
    """All points as one table in the order of the settings, with intervals that hold together."""
    order: dict[Any, Sequence[Any]] = {
        "T": settings.n_rounds,
        "d": settings.n_experts,
        "epsilon": settings.epsilons,
        "adversary": ADVERSARIES,
        "algorithm": algorithms_of(settings),
    }
    whole = frames["lazy"].sort_values(
        list(order), key=lambda column: column.map(order[column.name].index), ignore_index=True
    )
    errors = {"standard_error": "ci_half_width"}
    return {"lazy": add_intervals(whole, errors, facts.confidence)}


@lru_cache(maxsize=64)
def weights_loss(losses: Losses) -> float:
    """Expected total loss of multiplicative weights without privacy: eta = sqrt(8 log(d) / T)."""
    eta = math.sqrt(8 * math.log(losses.n_experts) / losses.n_rounds)
    measure = WeightsMeasure(losses.n_experts, eta)
    state, total = measure.initial(), 0.0
    for rounds in losses.batches(1):
        total += float(rounds[0] @ measure.probabilities(state))
        state = measure.absorb(state, rounds[0])
    return total


def play_tree(losses: Losses, mu: float, generators: ReplicateGenerators) -> tuple[Floats, Floats]:
    """Tree FTPL of least noise at mu: (R,) total losses and (R,) switches.

    For arbitrary losses in [0, 1], of L2 sensitivity sqrt(d).
    """
    d, levels = losses.n_experts, tree_levels(losses.n_rounds)
    scale = math.sqrt(d * levels) / mu
    prefix, tree = np.zeros(d), TreeNoise()
    total, switches = np.zeros((2, generators.n_replicates))
    last = switches - 1
    for rounds in losses.batches(1):
        # Every prefix has the noise of as many nodes as the one with the most.
        noise = math.sqrt(levels - len(tree.nodes)) * scale * generators.standard_normal(d)
        chosen = (prefix + noise + tree.total()).argmin(axis=1)
        switches += chosen != last
        last = chosen
        total += rounds[0][chosen]
        prefix += rounds[0]
        tree = tree.next(scale * generators.standard_normal(d))
    return total, switches - 1


def play_matrix(
    losses: Losses, mu: float, generators: ReplicateGenerators
) -> tuple[Floats, Floats]:
    """FTPL of factorised prefix sums at mu: (R,) total losses and (R,) switches.

    For arbitrary losses in [0, 1], of L2 sensitivity sqrt(d). Expert 0 in round 1.
    """
    T, d = losses.n_rounds, losses.n_experts
    (every,) = losses.batches(T)
    prefix, scale = every.cumsum(axis=0), math.sqrt(d) / mu
    total, switches = np.zeros((2, generators.n_replicates))
    for r, generator in enumerate(generators.generators):
        noisy = prefix + prefix_sums_times(scale * generator.standard_normal((T, d)))
        chosen = np.concatenate([[0], noisy[:-1].argmin(axis=1)])
        total[r] = every[np.arange(T), chosen].sum()
        switches[r] = np.count_nonzero(np.diff(chosen))
    return total, switches


_LEADERS: Mapping[str, tuple[str, Callable[..., tuple[Floats, Floats]]]] = {
    TREE: ("Gaussian noise on tree-aggregated prefix sums", play_tree),
    MATRIX: ("Gaussian noise on factorised sums (normalised square root)", play_matrix),
}
"""Mechanism and game of each leader of noisy prefix sums."""


def _play(
    settings: Lazy, losses: Losses, algorithm: str, epsilon: float, seed: int
) -> dict[str, object] | None:
    """What one algorithm did; None where no parameters reach epsilon."""
    d, delta, least = losses.n_experts, settings.delta, best_loss(losses)
    if algorithm == WEIGHTS:
        return regret_row(np.full(settings.replicates, weights_loss(losses)) - least)
    key = (type(losses).__name__, losses.n_rounds, d, float(epsilon))
    generators = replicate_generators(
        seed, key, range(settings.replicates), f"algorithm {algorithm}"
    )
    if algorithm in _LEADERS:
        mu, (mechanism, play_leader) = mu_of_epsilon(epsilon, delta), _LEADERS[algorithm]
        total, switches = play_leader(losses, mu, generators)
        guarantee = central_guarantee(mechanism, math.sqrt(d), "L2, loss", mu=mu)
        return regret_row(total - least, switches, guarantee)
    parameters = _parameters(losses, algorithm, epsilon, delta)
    if parameters is None:
        return None
    total, redraws = play(WeightsMeasure(d, parameters.eta), parameters, losses, generators)
    lazy, reached = "lazy resampling from multiplicative weights (L2P)", (parameters.epsilon, delta)
    guarantee = central_guarantee(lazy, 1.0, "L-infinity, loss", epsilon_delta=reached)
    return regret_row(total - least, redraws, guarantee, parameters)


def _parameters(
    losses: Losses, algorithm: str, epsilon: float, delta: float
) -> AccountedParameters | None:
    """Those of Theorem 3.10, or the best by our means or the paper's; None where none reach it."""
    whose: Accountant = "sound" if algorithm in ("l2p-sound", ONE_ROUND) else "published"
    c = NORMALISERS["tight" if whose == "sound" else "published"]
    game, d = LazyGame(losses.n_rounds, delta, normaliser=c), losses.n_experts
    if algorithm == PRESET:
        return theorem_3_10(game, epsilon=epsilon, n_experts=d)
    with suppress(ValueError):
        return choose_parameters(
            game,
            epsilon=epsilon,
            n_experts=d,
            accountant=whose,
            objective=whose,
            largest_batch=1 if algorithm == ONE_ROUND else None,
        )
    return None

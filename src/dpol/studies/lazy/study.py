"""Regret of L2P for experts beside its competitors, on synthetic losses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.intervals import add_intervals
from dpol.core.randomness import Floats, ReplicateGenerators, replicate_generators
from dpol.lazy.accounting import Accountant, LazyGame
from dpol.lazy.adversaries import EpochLosses, GapLosses, Losses, best_loss
from dpol.lazy.blocks import play_weights
from dpol.lazy.parameters import AccountedParameters, choose_parameters, theorem_3_10
from dpol.lazy.transform import NORMALISERS
from dpol.privacy.factorizations import prefix_sums_times
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.privacy.tree_noise import tree_levels
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

    Where no parameters of L2P reach epsilon there is no row.
    """
    rows, T, d = [], point["n_rounds"], point["n_experts"]
    for adversary in point["adversaries"]:
        for losses, epsilons in _sequences(settings, adversary, T, d, inputs.seed):
            games = list(itertools.product(epsilons, point["algorithms"]))
            for (epsilon, algorithm), found in _played(settings, losses, games, inputs.seed):
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


def weights_loss(losses: Losses) -> float:
    """Expected total loss of multiplicative weights without privacy: eta = sqrt(8 log(d) / T)."""
    d, prefix, total = losses.n_experts, np.zeros((1, losses.n_experts)), 0.0
    eta = math.sqrt(8 * math.log(d) / losses.n_rounds)
    for block in losses.batches(max(1, 200_000 // d)):
        prefix = np.concatenate([prefix[-1:], block]).cumsum(axis=0)
        weights = np.exp(-eta * (prefix[:-1] - prefix[:-1].min(axis=1, keepdims=True)))
        total += float((np.einsum("td,td->t", weights, block) / weights.sum(axis=1)).sum())
    return total


def play_tree(losses: Losses, mu: float, generators: ReplicateGenerators) -> tuple[Floats, Floats]:
    """Tree FTPL of least noise at mu: (R,) total losses and (R,) switches.

    For arbitrary losses in [0, 1], of L2 sensitivity sqrt(d).
    """
    T, d, levels = losses.n_rounds, losses.n_experts, tree_levels(losses.n_rounds)
    every, before = _rounds_and_prefixes(losses)
    scale, t = math.sqrt(d * levels) / mu, np.arange(T)
    ones = sum(t >> level & 1 for level in range(levels))
    by_nodes = [np.flatnonzero(ones == nodes) for nodes in range(2, levels + 1)]
    # Every prefix has the noise of as many nodes as the one with the most.
    missing = np.sqrt(levels - ones)[:, None] * scale
    actions, draws = np.empty((generators.n_replicates, T), dtype=int), np.empty((T, 2, d))
    noisy, nodes = draws[:, 0], draws[:, 1]  # `nodes` of t rounds are in row t - 1
    for own, generator in zip(actions, generators.generators, strict=True):
        generator.standard_normal(out=draws)
        noisy *= missing
        noisy += before
        nodes *= scale
        # The prefix of t rounds has the nodes of t & (t - 1) rounds, and the one that t closes.
        for after in by_nodes:
            nodes[after - 1] += nodes[(after & (after - 1)) - 1]
        noisy[1:] += nodes[:-1]
        own[:] = noisy.argmin(axis=1)
    return _outcome(every, actions)


def play_matrix(
    losses: Losses, mu: float, generators: ReplicateGenerators
) -> tuple[Floats, Floats]:
    """FTPL of factorised prefix sums at mu: (R,) total losses and (R,) switches.

    For arbitrary losses in [0, 1], of L2 sensitivity sqrt(d). Expert 0 in round 1.
    """
    T, d, scale = losses.n_rounds, losses.n_experts, math.sqrt(losses.n_experts) / mu
    every, before = _rounds_and_prefixes(losses)
    actions = np.zeros((generators.n_replicates, T), dtype=int)
    for own, generator in zip(actions, generators.generators, strict=True):
        noise = prefix_sums_times(scale * generator.standard_normal((T, d)))
        own[1:] = (before[1:] + noise[:-1]).argmin(axis=1)
    return _outcome(every, actions)


def _rounds_and_prefixes(losses: Losses) -> tuple[Floats, Floats]:
    """(T, d) losses of all rounds, and their sums before each round."""
    (every,) = losses.batches(losses.n_rounds)
    before = np.zeros_like(every)
    before[1:] = every[:-1].cumsum(axis=0)
    return every, before


def _outcome(every: Floats, actions: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """(R,) total losses and (R,) switches of (R, T) actions."""
    total = np.array([every[np.arange(len(every)), own].sum() for own in actions])
    return total, np.count_nonzero(np.diff(actions), axis=1).astype(float)


_LEADERS: Mapping[str, tuple[str, Callable[..., tuple[Floats, Floats]]]] = {
    TREE: ("Gaussian noise on tree-aggregated prefix sums", play_tree),
    MATRIX: ("Gaussian noise on factorised sums (normalised square root)", play_matrix),
}
"""Mechanism and game of each leader of noisy prefix sums."""


def _sequences(
    settings: Lazy, adversary: str, T: int, d: int, seed: int
) -> list[tuple[Losses, list[float]]]:
    """The losses of an adversary, each sequence with the epsilons that are played on it."""
    if adversary == "stochastic":
        return [(GapLosses(T, d, settings.gap, seed), settings.epsilons)]
    found: dict[int, tuple[Losses, list[float]]] = {}
    for epsilon in settings.epsilons:
        losses = EpochLosses(T, d, epsilon, seed)
        found.setdefault(losses.epochs, (losses, []))[1].append(epsilon)
    return list(found.values())


def _played(
    settings: Lazy, losses: Losses, games: Sequence[tuple[float, str]], seed: int
) -> Iterator[tuple[tuple[float, str], dict[str, object]]]:
    """What algorithms did at an epsilon; those are left out where no parameters reach it."""
    d, delta, least = losses.n_experts, settings.delta, best_loss(losses)
    without = weights_loss(losses) - least if any(it == WEIGHTS for _, it in games) else math.nan
    lazy: dict[tuple[float, str], AccountedParameters] = {}
    for epsilon, algorithm in games:
        game = epsilon, algorithm
        if algorithm == WEIGHTS:
            yield game, regret_row(np.full(settings.replicates, without))
        elif algorithm in _LEADERS:
            mu, (mechanism, play_leader) = mu_of_epsilon(epsilon, delta), _LEADERS[algorithm]
            own = _generators(settings, losses, game, seed)
            total, switches = play_leader(losses, mu, own)
            guarantee = central_guarantee(mechanism, math.sqrt(d), "L2, loss", mu=mu)
            yield game, regret_row(total - least, switches, guarantee)
        elif parameters := _parameters(losses.n_rounds, d, algorithm, epsilon, delta):
            lazy[game] = parameters
    found = play_weights(
        losses, [(it, _generators(settings, losses, game, seed)) for game, it in lazy.items()]
    )
    name = "lazy resampling from multiplicative weights (L2P)"
    for (game, parameters), (total, redraws) in zip(lazy.items(), found, strict=True):
        reached = parameters.epsilon, delta
        guarantee = central_guarantee(name, 1.0, "L-infinity, loss", epsilon_delta=reached)
        yield game, regret_row(total - least, redraws, guarantee, parameters)


def _generators(
    settings: Lazy, losses: Losses, game: tuple[float, str], seed: int
) -> ReplicateGenerators:
    epsilon, algorithm = game
    key = (type(losses).__name__, losses.n_rounds, losses.n_experts, float(epsilon))
    return replicate_generators(seed, key, range(settings.replicates), f"algorithm {algorithm}")


@lru_cache(maxsize=64)
def _parameters(
    T: int, d: int, algorithm: str, epsilon: float, delta: float
) -> AccountedParameters | None:
    """Those of Theorem 3.10, or the best by our means or the paper's; None where none reach it."""
    whose: Accountant = "sound" if algorithm in ("l2p-sound", ONE_ROUND) else "published"
    c = NORMALISERS["tight" if whose == "sound" else "published"]
    game = LazyGame(T, delta, normaliser=c)
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

"""Play L2P for experts and its competitors on synthetic losses, and measure regret."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.intervals import add_intervals
from dpol.core.randomness import Floats, replicate_generators
from dpol.experts.private_blocks import MECHANISMS, Prefix
from dpol.lazy.accounting import Accountant, LazyGame
from dpol.lazy.adversaries import (
    MOST_SUMS,
    EpochLosses,
    GapLosses,
    PairedLosses,
)
from dpol.lazy.algorithm import LazyWeights
from dpol.lazy.dartboard import ShrinkingDartboard, choose_dartboard
from dpol.lazy.leaders import LEADERS as NOISY_LEADERS
from dpol.lazy.leaders import play_blocks, play_leaders
from dpol.lazy.parameters import (
    NORMALISER_OF,
    AccountedParameters,
    choose_parameters,
    theorem_3_10,
)
from dpol.lazy.transform import play
from dpol.lazy.weights import PairedWeights
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.studies.jobs import read_rows
from dpol.studies.paper2.lazy.points import LazyPoint
from dpol.studies.paper2.lazy.regrets import MEANS, central_guarantee, pairs_of, regrets
from dpol.studies.paper2.lazy.settings import (
    ADVERSARIES,
    ALGORITHMS,
    BLOCKS,
    DARTBOARD,
    LEADERS,
    ONE_ROUND,
    ONLY_STOCHASTIC,
    PRESET,
    STOCHASTIC,
    WEIGHTS,
    Lazy,
)
from dpol.studies.replicates import joined_row
from dpol.studies.study import Facts, FileLists, Inputs

POINT = LazyPoint


def run(point: LazyPoint, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """Return a row per epsilon, adversary and algorithm, without intervals.

    There is no row of an algorithm if none of its parameters reach epsilon. Each replicate has
    losses of its own, on which all algorithms play.
    """
    size = max(1, MOST_SUMS // (point.n_rounds * point.n_experts))
    parts = [
        list(_played(point, range(first, min(first + size, point.replicates)), inputs.seed))
        for first in range(0, point.replicates, size)
    ]
    return {"lazy": pd.DataFrame([joined_row(rows, MEANS) for rows in zip(*parts, strict=True)])}


def collect(files: FileLists, settings: Lazy, facts: Facts) -> dict[str, pd.DataFrame]:
    """Join all points in the order of the settings, and add intervals that hold together."""
    order: dict[Any, Sequence[Any]] = {
        "T": settings.n_rounds,
        "d": settings.n_experts,
        "epsilon": settings.epsilons,
        "adversary": ADVERSARIES,
        "algorithm": ALGORITHMS,
    }
    whole = read_rows(files["lazy"]).sort_values(
        list(order), key=lambda column: column.map(order[column.name].index), ignore_index=True
    )
    errors = {"standard_error": "ci_half_width"}
    return {
        "lazy": add_intervals(whole, errors, facts.confidence),
        "lazy_pairs": pairs_of(whole, ["adversary", "T", "d", "epsilon"], facts.confidence),
    }


def weights_losses(losses: PairedLosses) -> Floats:
    """Return (R,) expected total losses of weights without privacy, eta = sqrt(8 log(d) / T)."""
    first, *_ = losses.sequences
    eta = math.sqrt(8 * math.log(first.n_experts) / first.n_rounds)
    totals = np.zeros(len(losses.sequences))
    for sums in losses.parts():
        for r, own in enumerate(sums):
            behind = (own[:-1] - own[:-1].min(axis=1, keepdims=True)).astype(float)
            weights = np.exp(-eta * behind)
            lost = np.einsum("td,td->t", weights, np.diff(own, axis=0)) / weights.sum(axis=1)
            totals[r] += float(lost.sum(dtype=float))
    return totals


@dataclass(frozen=True)
class _Game:
    """Losses of an adversary for some replicates, and the epsilons of the games on them."""

    adversary: str
    losses: PairedLosses
    epsilons: list[float]

    @cached_property
    def weights(self) -> Floats:
        """(R,) expected regret of weights without privacy."""
        return weights_losses(self.losses) - self.least

    @property
    def least(self) -> Floats:
        """(R,) total losses of the best fixed experts in hindsight."""
        return np.asarray(self.losses.totals.min(axis=1))

    def row(
        self, point: LazyPoint, epsilon: float, algorithm: str, result: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the row of an algorithm, with the expected regret of uniform random."""
        return {
            "adversary": self.adversary,
            "T": point.n_rounds,
            "d": point.n_experts,
            "epsilon": epsilon,
            "uniform_regret": self.losses.totals.mean(axis=1) - self.least,
            "delta": point.delta,
            "algorithm": algorithm,
            "limit": math.nan,
            **result,
        }


def _played(point: LazyPoint, replicates: Sequence[int], seed: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of some replicates."""
    games = [game for each in point.adversaries for game in _games(point, each, replicates, seed)]
    alone = [name for name in point.algorithms if name not in LEADERS]
    for game in games:
        yield from _alone(point, game, alone, replicates, seed)
    for algorithm in point.algorithms:
        if algorithm in LEADERS:
            yield from _led(point, algorithm, games, replicates, seed)


def _games(point: LazyPoint, adversary: str, replicates: Sequence[int], seed: int) -> list[_Game]:
    """Return the different games of an adversary."""
    T, d = point.n_rounds, point.n_experts
    if adversary == STOCHASTIC:
        gaps = tuple(GapLosses(T, d, point.gap, seed, r) for r in replicates)
        return [_Game(adversary, PairedLosses(gaps), list(point.epsilons))]
    by_epochs: dict[int, _Game] = {}
    for epsilon in point.epsilons:
        epochs = tuple(EpochLosses(T, d, epsilon, seed, r) for r in replicates)
        game = _Game(adversary, PairedLosses(epochs), [])
        by_epochs.setdefault(epochs[0].epochs, game).epsilons.append(epsilon)
    return list(by_epochs.values())


def _alone(
    point: LazyPoint, game: _Game, algorithms: Sequence[str], replicates: Sequence[int], seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the rows of all algorithms but `LEADERS`, at every epsilon they reach."""
    T, d, delta = point.n_rounds, point.n_experts, point.delta
    for epsilon, algorithm in itertools.product(game.epsilons, algorithms):
        key = (game.adversary, T, d, float(epsilon))
        coins = replicate_generators(seed, key, replicates, f"algorithm {algorithm}")
        chosen, reached = None, (epsilon, 0.0)
        if algorithm == WEIGHTS:
            yield game.row(point, epsilon, algorithm, regrets(game.weights))
            continue
        if algorithm in ONLY_STOCHASTIC:
            if game.adversary != STOCHASTIC:
                continue
            prefix: Prefix = "random" if algorithm == BLOCKS else "whole"
            total, moved = play_blocks(game.losses, epsilon, coins, prefix)
            mechanism = MECHANISMS[prefix]
        else:
            chosen = _parameters(T, d, algorithm, epsilon, delta)
            if chosen is None:
                continue
            measure = PairedWeights(d, chosen.eta)
            total, moved = play(measure, chosen, game.losses, coins)
            mechanism = (LazyWeights if chosen.shadow else ShrinkingDartboard).mechanism
            reached = chosen.epsilon, delta
        guarantee = central_guarantee(mechanism, 1.0, "L-infinity, loss", epsilon_delta=reached)
        result = regrets(total - game.least, moved, guarantee, chosen)
        yield game.row(point, epsilon, algorithm, result)


def _led(
    point: LazyPoint, algorithm: str, games: Sequence[_Game], replicates: Sequence[int], seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a noisy leader in all games, at every epsilon."""
    settings = [(game, epsilon) for game in games for epsilon in game.epsilons]
    levels = [(game.losses, mu_of_epsilon(epsilon, point.delta)) for game, epsilon in settings]
    key, d = (point.n_rounds, point.n_experts), point.n_experts
    coins = replicate_generators(seed, key, replicates, f"algorithm {algorithm}")
    for (game, epsilon), (_, mu), (total, switches) in zip(
        settings, levels, play_leaders(algorithm, levels, coins), strict=True
    ):
        mechanism, sensitivity = NOISY_LEADERS[algorithm][0], math.sqrt(d)
        guarantee = central_guarantee(mechanism, sensitivity, "L2, loss", mu=mu)
        result = regrets(total - game.least, switches, guarantee)
        yield game.row(point, epsilon, algorithm, result)


def _parameters(
    T: int, d: int, algorithm: str, epsilon: float, delta: float
) -> AccountedParameters | None:
    """Return the parameters of Theorem 3.10 or the best by an accountant; None if none are."""
    rule: Accountant = "sound" if algorithm.endswith(("-sound", ONE_ROUND)) else "published"
    game = LazyGame(T, delta, normaliser=NORMALISER_OF[rule])
    if algorithm == PRESET:
        return theorem_3_10(game, epsilon=epsilon, n_experts=d)
    choose = choose_dartboard if algorithm.startswith(DARTBOARD) else choose_parameters
    with suppress(ValueError):
        return choose(
            game,
            epsilon=epsilon,
            n_experts=d,
            accountant=rule,
            largest_batch=1 if algorithm == ONE_ROUND else None,
        )
    return None

"""Play L2P for experts and its competitors on synthetic losses, and measure regret."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.intervals import add_intervals
from dpol.core.randomness import Floats, replicate_generators
from dpol.experts.private_blocks import MECHANISMS, Prefix
from dpol.lazy.accounting import Accountant, LazyGame
from dpol.lazy.adversaries import EpochLosses, ExpertLosses, GapLosses, total_losses
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
from dpol.lazy.weights import WeightsMeasure
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.studies.jobs import read_rows
from dpol.studies.paper2.lazy.points import LazyPoint
from dpol.studies.paper2.lazy.regrets import central_guarantee, regret_row
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
from dpol.studies.study import Facts, FileLists, Inputs

POINT = LazyPoint


def run(point: LazyPoint, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """Return a row per epsilon, adversary and algorithm, without intervals.

    There is no row of an algorithm if none of its parameters reach epsilon.
    """
    sequences = [
        sequence
        for adversary in point.adversaries
        for sequence in _sequences(point, adversary, inputs.seed)
    ]
    rows: list[dict[str, object]] = []
    alone = [name for name in point.algorithms if name not in LEADERS]
    for sequence in sequences:
        rows += _played(point, sequence, alone, inputs.seed)
    for algorithm in point.algorithms:
        if algorithm in LEADERS:
            rows += _led(point, algorithm, sequences, inputs.seed)
    return {"lazy": pd.DataFrame(rows)}


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
    return {"lazy": add_intervals(whole, errors, facts.confidence)}


def weights_loss(losses: ExpertLosses) -> float:
    """Return the expected total loss of non-private weights with eta = sqrt(8 log(d) / T)."""
    d, prefix, total = losses.n_experts, np.zeros((1, losses.n_experts)), 0.0
    eta = math.sqrt(8 * math.log(d) / losses.n_rounds)
    for block in losses.batches(max(1, 200_000 // d)):
        prefix = np.concatenate([prefix[-1:], block]).cumsum(axis=0)
        weights = np.exp(-eta * (prefix[:-1] - prefix[:-1].min(axis=1, keepdims=True)))
        total += float((np.einsum("td,td->t", weights, block) / weights.sum(axis=1)).sum())
    return total


@dataclass(frozen=True)
class _Sequence:
    """Losses of an adversary, and the epsilons of the games on these losses."""

    adversary: str
    losses: ExpertLosses
    epsilons: list[float]

    @cached_property
    def _totals(self) -> Floats:
        return total_losses(self.losses)

    @property
    def least(self) -> float:
        """Total loss of the best fixed expert in hindsight."""
        return float(self._totals.min())

    def row(
        self, point: LazyPoint, epsilon: float, algorithm: str, result: dict[str, object]
    ) -> dict[str, object]:
        """Return the row of a game, with the expected regret of uniform random."""
        return {
            "adversary": self.adversary,
            "T": self.losses.n_rounds,
            "d": self.losses.n_experts,
            "epsilon": epsilon,
            "uniform_regret": float(self._totals.mean()) - self.least,
            "delta": point.delta,
            "algorithm": algorithm,
            "limit": math.nan,
            **result,
        }


def _sequences(point: LazyPoint, adversary: str, seed: int) -> list[_Sequence]:
    """Return the different sequences of losses of an adversary."""
    T, d = point.n_rounds, point.n_experts
    if adversary == STOCHASTIC:
        return [_Sequence(adversary, GapLosses(T, d, point.gap, seed), list(point.epsilons))]
    by_epochs: dict[int, _Sequence] = {}
    for epsilon in point.epsilons:
        losses = EpochLosses(T, d, epsilon, seed)
        sequence = by_epochs.setdefault(losses.epochs, _Sequence(adversary, losses, []))
        sequence.epsilons.append(epsilon)
    return list(by_epochs.values())


def _played(
    point: LazyPoint, sequence: _Sequence, algorithms: Sequence[str], seed: int
) -> Iterator[dict[str, object]]:
    """Yield the rows of all algorithms but `LEADERS`, at every epsilon they reach."""
    losses, delta, replicates = sequence.losses, point.delta, range(point.replicates)
    # The expected loss has no randomness, so every replicate is the same.
    weights = np.full(point.replicates, weights_loss(losses) - sequence.least)
    for epsilon, algorithm in itertools.product(sequence.epsilons, algorithms):
        key = (type(losses).__name__, losses.n_rounds, losses.n_experts, float(epsilon))
        coins = replicate_generators(seed, key, replicates, f"algorithm {algorithm}")
        chosen, reached = None, (epsilon, 0.0)
        if algorithm == WEIGHTS:
            yield sequence.row(point, epsilon, algorithm, regret_row(weights))
            continue
        if algorithm in ONLY_STOCHASTIC:
            if sequence.adversary != STOCHASTIC:
                continue
            prefix: Prefix = "random" if algorithm == BLOCKS else "whole"
            total, moved = play_blocks(losses, epsilon, coins, prefix)
            mechanism = MECHANISMS[prefix]
        else:
            chosen = _parameters(losses.n_rounds, losses.n_experts, algorithm, epsilon, delta)
            if chosen is None:
                continue
            measure = WeightsMeasure(losses.n_experts, chosen.eta)
            total, moved = play(measure, chosen, losses, coins)
            mechanism = (LazyWeights if chosen.shadow else ShrinkingDartboard).mechanism
            reached = chosen.epsilon, delta
        guarantee = central_guarantee(mechanism, 1.0, "L-infinity, loss", epsilon_delta=reached)
        result = regret_row(total - sequence.least, moved, guarantee, chosen)
        yield sequence.row(point, epsilon, algorithm, result)


def _led(
    point: LazyPoint, algorithm: str, sequences: Sequence[_Sequence], seed: int
) -> Iterator[dict[str, object]]:
    """Yield the rows of a noisy leader on all sequences, at every epsilon."""
    settings = [(sequence, epsilon) for sequence in sequences for epsilon in sequence.epsilons]
    games = [(part.losses, mu_of_epsilon(epsilon, point.delta)) for part, epsilon in settings]
    key = sequences[0].losses.n_rounds, sequences[0].losses.n_experts
    coins = replicate_generators(seed, key, range(point.replicates), f"algorithm {algorithm}")
    played = play_leaders(algorithm, games, coins)
    for (sequence, epsilon), (_, mu), (total, switches) in zip(
        settings, games, played, strict=True
    ):
        sensitivity = math.sqrt(sequence.losses.n_experts)
        guarantee = central_guarantee(NOISY_LEADERS[algorithm][0], sensitivity, "L2, loss", mu=mu)
        result = regret_row(total - sequence.least, switches, guarantee)
        yield sequence.row(point, epsilon, algorithm, result)


@lru_cache(maxsize=64)
def _parameters(
    T: int, d: int, algorithm: str, epsilon: float, delta: float
) -> AccountedParameters | None:
    """Return the parameters of Theorem 3.10 or the best by an accountant; None if none are."""
    rule: Accountant = "sound" if algorithm.endswith(("-sound", ONE_ROUND)) else "published"
    game = LazyGame(T, delta, normaliser=NORMALISER_OF[rule])
    if algorithm == PRESET:
        return theorem_3_10(game, epsilon=epsilon, n_experts=d)
    with suppress(ValueError):
        if algorithm.startswith(DARTBOARD):
            return choose_dartboard(game, epsilon=epsilon, n_experts=d, accountant=rule)
        return choose_parameters(
            game,
            epsilon=epsilon,
            n_experts=d,
            accountant=rule,
            largest_batch=1 if algorithm == ONE_ROUND else None,
        )
    return None

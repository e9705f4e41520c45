"""Play L2P for experts and its competitors on synthetic losses, and measure regret."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators, replicate_generators
from dpol.experts.limited_updates import LimitedUpdates
from dpol.lazy.accounting import NORMALISERS, Accountant, LazyGame
from dpol.lazy.algorithm import LazyWeights
from dpol.lazy.dartboard import ShrinkingDartboard, choose_dartboard
from dpol.lazy.leaders import NOISY_LEADERS, doubling_edges, play_blocks, play_leaders
from dpol.lazy.parameters import AccountedParameters, choose_parameters, theorem_3_10
from dpol.lazy.stochastic_losses import GapLosses, PairedLosses, TurnLosses
from dpol.lazy.weights import WeightsMeasure, play_weights
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.privacy.settings import DELTA
from dpol.studies.jobs import read_points
from dpol.studies.paper2.lazy.regrets import central_guarantee, compared, regrets
from dpol.studies.paper2.lazy.settings import (
    ADVERSARIES,
    ALGORITHMS,
    GAP,
    LARGEST_TREE,
    LEADER,
    LEADERS,
    LIMITED,
    ONE_ROUND,
    PRESET,
    TURN,
    WEIGHTS,
    Lazy,
    LazyPoint,
)
from dpol.studies.study import Facts, FileLists, Inputs

if TYPE_CHECKING:
    import pandas as pd

POINT = LazyPoint


def run(point: LazyPoint, inputs: Inputs) -> dict[str, list[dict[str, Any]]]:
    """Return a row per epsilon and algorithm, without intervals.

    There is no row of an algorithm if none of its parameters reach epsilon. Each replicate has
    losses of its own, on which all algorithms play.
    """
    return {"lazy": list(_played(point, inputs.seed))}


def collect(files: FileLists, settings: Lazy, facts: Facts) -> dict[str, pd.DataFrame]:
    """Join all points in the order of the settings, and add intervals that hold together."""
    order: dict[Any, Sequence[Any]] = {
        "adversary": ADVERSARIES,
        "T": settings.n_rounds,
        "d": settings.n_experts,
        "epsilon": list(dict.fromkeys([*settings.epsilons, *settings.alternating_epsilons])),
        "algorithm": ALGORITHMS,
    }
    whole = read_points(files["lazy"]).sort_values(
        list(order), key=lambda column: column.map(order[column.name].index), ignore_index=True
    )
    return compared("lazy", whole, ["adversary", "T", "d", "epsilon"], facts.confidence)


def close_gap(T: int, d: int) -> float:
    """Return the gap √(log d / T), at which regret without privacy is of the largest order.

    A wrong choice costs less with a smaller gap, and with a larger one the best expert is found
    sooner. Without a gap all choices have the same expected loss, so there is nothing to rank.
    """
    return min(math.sqrt(math.log(d) / T), 0.5)


def open_losses(losses: PairedLosses, eta: float) -> Floats:
    """Return (R,) expected total losses of weights without privacy.

    At eta = inf they follow the leader, with ties at random. Sequences are computed once, (1,) if
    all replicates have the same.
    """
    totals = np.zeros(len(losses.sequences))
    for sums in losses.parts():
        for r in range(len(totals)):
            own = sums[r]
            behind = own[:-1] - own[:-1].min(axis=1, keepdims=True)
            weights = behind == 0 if eta == math.inf else np.exp(-eta * behind)
            lost = np.einsum("td,td->t", weights, np.diff(own, axis=0)) / weights.sum(axis=1)
            totals[r] += float(lost.sum(dtype=float))
    return totals


def _played(point: LazyPoint, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the rows, each with the mean regret of uniform random."""
    study, longest = point
    (T,), (d,), replicates = study.n_rounds, study.n_experts, range(study.replicates)
    algorithms = [it for it in ALGORITHMS if T * d <= LARGEST_TREE or it not in LEADERS]
    by_gap = [
        PairedLosses(tuple(GapLosses(T, d, gap, seed, r) for r in replicates))
        for gap in (GAP, close_gap(T, d))
    ]
    turns = PairedLosses((TurnLosses(T, d, TURN),), len(replicates))
    asked = study.epsilons, study.epsilons * longest, study.alternating_epsilons
    games = [it for it in zip(ADVERSARIES, asked, (*by_gap, turns), strict=True) if it[1]]
    cells = {
        (adversary, epsilon): (losses, mu_of_epsilon(epsilon, DELTA))
        for adversary, epsilons, losses in games
        for epsilon in epsilons
    }
    led = {}  # all games share the noise of a leader
    for algorithm in [it for it in LEADERS if it in algorithms]:
        coins = replicate_generators(seed, (T, d), replicates, f"algorithm {algorithm}")
        outcomes = play_leaders(algorithm, [*cells.values()], coins)
        led[algorithm] = dict(zip(cells, outcomes, strict=True))
    for adversary, epsilons, losses in games:
        least = np.asarray(losses.totals.min(axis=1))
        uniform = float((losses.totals.mean(axis=1) - least).mean())
        rates = {WEIGHTS: math.sqrt(8 * math.log(d) / T), LEADER: math.inf}
        free = {name: open_losses(losses, eta) - least for name, eta in rates.items()}
        for epsilon, algorithm in itertools.product(epsilons, algorithms):
            if algorithm in free:
                found = regrets(free[algorithm])
            elif algorithm in led:
                total, switches = led[algorithm][adversary, epsilon]
                mechanism, mu = NOISY_LEADERS[algorithm][0], cells[adversary, epsilon][1]
                guarantee = central_guarantee(mechanism, math.sqrt(d), "L2, loss", mu=mu)
                found = regrets(total - least, switches, guarantee)
            else:
                key = adversary, T, d, float(epsilon)
                coins = replicate_generators(seed, key, replicates, f"algorithm {algorithm}")
                found = _alone(algorithm, losses, epsilon, coins)
            if found:
                yield {
                    "adversary": adversary,
                    "T": T,
                    "d": d,
                    "epsilon": epsilon,
                    "replicates": study.replicates,
                    "uniform_regret": uniform,
                    "delta": DELTA,
                    "algorithm": algorithm,
                    "limit": math.nan,
                    **found,
                }


def _alone(
    algorithm: str, losses: PairedLosses, epsilon: float, coins: ReplicateGenerators
) -> dict[str, Any]:
    """Return the columns of limited updates, L2P or a dartboard; empty without parameters."""
    T, d = losses.sequences[0].n_rounds, losses.sequences[0].n_experts
    chosen, reached = None, (epsilon, 0.0)
    if algorithm == LIMITED:
        total, moved = play_blocks(losses.between(doubling_edges(T)), epsilon, coins)
        mechanism = LimitedUpdates.mechanism
    else:
        chosen = _parameters(T, d, algorithm, epsilon)
        if chosen is None:
            return {}
        total, moved = play_weights(WeightsMeasure(d, chosen.eta), chosen, losses, coins)
        mechanism = (LazyWeights if chosen.shadow else ShrinkingDartboard).mechanism
        reached = chosen.epsilon, DELTA
    guarantee = central_guarantee(mechanism, 1.0, "L-infinity, loss", epsilon_delta=reached)
    return regrets(total - losses.totals.min(axis=1), moved, guarantee, chosen)


_SEARCHES: Mapping[str, tuple[Callable[..., AccountedParameters], Accountant]] = {
    "l2p-sound": (choose_parameters, "sound"),
    ONE_ROUND: (partial(choose_parameters, largest_batch=1), "sound"),
    "l2p-published": (choose_parameters, "published"),
    "dartboard-sound": (choose_dartboard, "sound"),
    "dartboard-published": (choose_dartboard, "published"),
}
"""The search for parameters, and its accountant, of each algorithm that has any."""


@cache  # The games of a point ask again.
def _parameters(T: int, d: int, algorithm: str, epsilon: float) -> AccountedParameters | None:
    """Return the parameters of Theorem 3.10 or the best by an accountant; None if none are."""
    if algorithm == PRESET:
        game = LazyGame(T, DELTA, normaliser=NORMALISERS["published"])
        return theorem_3_10(game, epsilon=epsilon, n_experts=d)
    choose, rule = _SEARCHES[algorithm]
    game = LazyGame(T, DELTA, normaliser=NORMALISERS[rule])
    with suppress(ValueError):
        return choose(game, epsilon=epsilon, n_experts=d, accountant=rule)
    return None

"""Divide help from the noisy counts of a game, and score the divisions by the need left unmet.

In every round after the first, K units are divided before its counts are known: from the releases
of earlier rounds, and from the capacities of the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from dpol.core.logs import progress
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.data.stream import GainStream
from dpol.divide import best_fixed, equal_chances, level_variance, proportional
from dpol.experts.interface import Actions, Forecast, LocalAlgorithm
from dpol.experts.play import rounds
from dpol.noise import NO_NOISE, NoisyGains
from dpol.studies.games.settings import Allocation

FLOOR, LAST, FORECAST, GUARANTEE = "floor", "last", "forecast", "guarantee"
EQUAL, EXACT, FIXED, ORACLE = "equal-chances", "exact", "best-fixed", "oracle"
NAMES = {
    FLOOR: "floor",
    LAST: "last noisy counts",
    FORECAST: "forecast",
    GUARANTEE: "with a guarantee",
    EQUAL: "equal chances",
    EXACT: "last exact counts",
    FIXED: "best fixed",
}
"""Names that readers see of the rules that are shown."""
SMALL = 50.0
"""Entities with a smaller median capacity are small."""
_LEAST = 1e-9
"""Least predicted total, so that its logarithm exists."""
Row = Mapping[str, Any]
"""Need that a rule left unmet on a stream, with the columns of `SCHEMA`."""
SCHEMA = pa.schema(
    {
        **dict.fromkeys(("stream", "need", "rule", "algorithm", "noise"), pa.string()),
        "first": pa.int64(),
        **dict.fromkeys(("units_share", "mu", "units"), pa.float64()),
        **dict.fromkeys(("unmet", "unmet_small", "by_round", "by_entity"), pa.list_(pa.float64())),
        **dict.fromkeys(("needed", "needed_small"), pa.list_(pa.float64())),
    }
)
"""Columns of a point's table: `first` replicate; (R,) `unmet` need and its part at small entities;
`by_round` (T - 1,) and `by_entity` (n,), summed over replicates; need by entity, (n,), and its sum
over small entities, (1,)."""


@dataclass(frozen=True, kw_only=True)
class Demand:
    """Need for help on a stream, of N kinds, and units to divide in a round, in Q numbers.

    Args:
        counts: (T, n) true counts.
        capacity: (T, n) capacities.
        own: (N, T, n) counts that an entity serves itself.
        need: (N, T, n) counts above them.
        units: (N, Q) units to divide in each round.
        guarantee: share of the units that is guaranteed.
        labels: kind of need and share of the mean total need, in the order of N and Q.
    """

    counts: Floats
    capacity: Floats
    own: Floats
    need: Floats
    units: Floats
    guarantee: float
    labels: tuple[tuple[str, float], ...]


def demand_of(stream: GainStream, allocation: Allocation) -> Demand:
    """Return the need of a stream with capacities."""
    capacity = stream.capacities_for("the division of help")
    own, counts = np.multiply.outer([*allocation.needs.values()], capacity), stream.gains * capacity
    need = np.maximum(counts - own, 0.0)
    return Demand(
        counts=counts,
        capacity=capacity,
        own=own,
        need=need,
        units=np.multiply.outer(need.sum(axis=2).mean(axis=1), allocation.shares),
        guarantee=allocation.guarantee,
        labels=tuple(product(allocation.needs, allocation.shares)),
    )


def play_and_divide(
    algorithm: LocalAlgorithm[Any],
    source: NoisyGains,
    generators: ReplicateGenerators,
    demand: Demand,
    facts: Row,
) -> tuple[Actions, list[Row]]:
    """Play a game, and divide help in every round after the first by four rules.

    Args:
        algorithm: algorithm for which `forecasts_gains` is True.
        source: noisy gains with capacities.
        generators: the algorithm's own randomness, one generator per replicate.
        demand: need of the stream behind the gains.
        facts: `stream`, `algorithm`, `noise`, `mu` and `first` of the rows.

    Returns:
        The (R, T) actions, and the rows of every rule, also of those that see no noisy counts.
    """
    actions, totals = [], list[Floats]()
    by_round, by_entity = dict[str, list[Floats]](), dict[str, Floats]()
    played = rounds(algorithm, source, generators)
    named = f"{facts['algorithm']}, rounds"
    for t, (state, chosen) in enumerate(progress(played, named, source.n_rounds)):
        actions.append(chosen)
        if t == 0:
            continue
        noisy = source.gains[:, t - 1] * demand.capacity[t - 1]
        divisions = _divisions(algorithm.forecast(state), noisy, totals, demand, t - 1)
        for rule, division in divisions.items():
            short = np.maximum(demand.need[:, None, None, t] - division, 0.0)
            by_round.setdefault(rule, []).append(short.sum(axis=-1))
            by_entity[rule] = short + by_entity.get(rule, 0.0)
    rows = [*references(facts["stream"], demand)]
    for rule, unmet in by_round.items():
        own = {**facts, "rule": rule} | ({"algorithm": ""} if rule == LAST else {})
        rows += _rows(demand, np.stack(unmet, axis=-1), by_entity[rule], own)
    return np.stack(actions, axis=1), rows


def _divisions(
    forecast: Forecast | None, noisy: Floats, totals: list[Floats], demand: Demand, now: int
) -> dict[str, Floats]:
    """Return the (N, Q, R, n) divisions of each rule after round `now`; append to `totals`."""
    if forecast is None or forecast.gains is None:
        raise ValueError("the algorithm forecasts no gains; see forecasts_gains")
    (gains, spread), capacity, own = forecast.gains, demand.capacity[now], demand.own[:, now]
    mean = gains * capacity
    totals.append(np.maximum(np.maximum(mean, 0.0).sum(axis=1), _LEAST))
    level = level_variance(np.stack(totals, axis=1))[:, None]
    deviation = np.sqrt(spread * capacity**2 + level * mean**2)
    law: Any = {"mean": mean, "deviation": deviation, "own": own[:, None, None]}
    units = demand.units[..., None]
    return {
        LAST: proportional(np.maximum(noisy - law["own"], 0.0), units),
        FORECAST: proportional(np.maximum(mean - law["own"], 0.0), units),
        GUARANTEE: equal_chances(**law, units=units, guaranteed=demand.guarantee),
        EQUAL: equal_chances(**law, units=units),
    }


def references(stream: str, demand: Demand) -> Iterator[Row]:
    """Yield the rows of the rules that see no noisy counts."""
    units, need = demand.units[..., None], demand.need[:, None, 1:]
    known = np.maximum(demand.counts[:-1] - demand.own[:, None, :-1], 0.0)
    left = {
        FLOOR: need - proportional(demand.capacity[:-1], units),
        EXACT: need - proportional(known, units),
        FIXED: need - best_fixed(need, demand.units)[..., None, :],
    }
    facts = {"stream": stream, "algorithm": "", "noise": NO_NOISE, "mu": np.nan, "first": 0}
    for rule, short in left.items():
        short = np.maximum(short, 0.0)[:, :, None]
        yield from _rows(demand, short.sum(-1), short.sum(-2), {**facts, "rule": rule})
    # The oracle divides as it likes among the needy, so nobody in particular falls short.
    least = np.maximum(need.sum(-1) - units, 0.0)[:, :, None]
    nobody = np.full((*least.shape[:3], need.shape[-1]), np.nan)
    yield from _rows(demand, least, nobody, {**facts, "rule": ORACLE})


def _rows(demand: Demand, by_round: Floats, by_entity: Floats, facts: Row) -> Iterator[Row]:
    """Yield a row for each need and number of units, from unmet (N, Q, R, T - 1), (N, Q, R, n)."""
    small = np.median(demand.capacity, axis=0) < SMALL
    for place, (need, share) in zip(np.ndindex(demand.units.shape), demand.labels, strict=True):
        needed = demand.need[place[0], 1:].sum(axis=0)
        yield {
            **facts,
            "need": need,
            "units_share": share,
            "units": demand.units[place],
            "unmet": by_round[place].sum(axis=1),
            "unmet_small": by_entity[place][:, small].sum(axis=1),
            "by_round": by_round[place].sum(axis=0),
            "by_entity": by_entity[place].sum(axis=0),
            "needed": needed,
            "needed_small": [needed[small].sum()],
        }

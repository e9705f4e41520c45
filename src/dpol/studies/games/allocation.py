"""Divide help from the noisy counts of a game, and score the divisions by the need left unmet.

In every round after the first, K units are divided before its counts are known: from the releases
of earlier rounds, and from the capacities of the last one.

K is a share q of the mean need or of the announced need. The mean need, over all rounds of the true
counts, is known in hindsight only, and it is not private: it is a scale of the study. The announced
need is what the forecasting algorithm expects beyond own staff, summed over the entities. It is
post-processing of earlier releases, so a division of such units has their privacy guarantee.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from dpol.studies.games.scores import column
from dpol.studies.games.settings import ANNOUNCED, MEAN_NEED, Allocation, Followed

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
        **dict.fromkeys(("stream", "need", "units_follow", "rule", "algorithm"), pa.string()),
        "noise": pa.string(),
        "first": pa.int64(),
        **dict.fromkeys(("units_share", "mu"), pa.float64()),
        **dict.fromkeys(("units", "unmet", "unmet_small"), pa.list_(pa.float64())),
        **dict.fromkeys(
            ("by_round", "by_entity", "needed", "needed_small"), pa.list_(pa.float64())
        ),
    }
)
"""Columns of a point's table: `first` replicate; (R,) mean units, `unmet` need and its part at
small entities; `by_round` (T - 1,) and `by_entity` (n,), summed over replicates; need by entity,
(n,), and its sum over small entities, (1,)."""


@dataclass(frozen=True, kw_only=True)
class Demand:
    """Need for help on a stream, of N kinds, and units to divide in a round, in Q numbers.

    Args:
        counts: (T, n) true counts.
        capacity: (T, n) capacities.
        own: (N, T, n) counts that an entity serves itself.
        need: (N, T, n) counts above them.
        shares: (Q,) units, as shares of the need that they follow.
        follow: needs that units follow; each is divided by itself.
        units: (N, Q) units to divide in each round if they follow the mean need.
        guarantee: share of the units that is guaranteed.
        labels: the N kinds of need.
    """

    counts: Floats
    capacity: Floats
    own: Floats
    need: Floats
    shares: Floats
    follow: tuple[Followed, ...]
    units: Floats
    guarantee: float
    labels: tuple[str, ...]


def demand_of(stream: GainStream, allocation: Allocation) -> Demand:
    """Return the need of a stream with capacities."""
    capacity = stream.capacities_for("the division of help")
    own, counts = np.multiply.outer([*allocation.needs.values()], capacity), stream.gains * capacity
    need, shares = np.maximum(counts - own, 0.0), np.array(allocation.shares)
    return Demand(
        counts=counts,
        capacity=capacity,
        own=own,
        need=need,
        shares=shares,
        follow=tuple(allocation.units),
        units=np.multiply.outer(need.sum(axis=2).mean(axis=1), shares),
        guarantee=allocation.guarantee,
        labels=tuple(allocation.needs),
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
        If units follow the announced need, the forecasts decide their number, so rows of all rules
        have the algorithm, noise and mu of the game; the best fixed division is left out.
    """
    actions, totals = [], list[Floats]()
    units: dict[Followed, list[Floats]] = {follow: [] for follow in demand.follow}
    by_round = dict[tuple[Followed, str], list[Floats]]()
    by_entity = dict[tuple[Followed, str], Floats]()
    played = rounds(algorithm, source, generators)
    named = f"{facts['algorithm']}, rounds"
    for t, (state, chosen) in enumerate(progress(played, named, source.n_rounds)):
        actions.append(chosen)
        if t == 0:
            continue
        noisy = source.gains[:, t - 1] * demand.capacity[t - 1]
        law = _law(algorithm.forecast(state), totals, demand, t - 1)
        announced = np.maximum(law["mean"] - law["own"], 0.0).sum(axis=-1)
        for follow, own in units.items():
            own.append(
                demand.units[..., None]
                if follow == MEAN_NEED
                else demand.shares[:, None] * announced
            )
            divisions = _divisions(law, noisy, own[-1], demand.guarantee)
            if follow == ANNOUNCED:
                divisions |= _informed(demand, own[-1], slice(t - 1, t), slice(t, t + 1))
            for rule, division in divisions.items():
                short = np.maximum(demand.need[:, None, None, t] - division, 0.0)
                by_round.setdefault((follow, rule), []).append(short.sum(axis=-1))
                by_entity[follow, rule] = short + by_entity.get((follow, rule), 0.0)
    rows = [*references(facts["stream"], demand)] if MEAN_NEED in units else []
    for (follow, rule), unmet in by_round.items():
        of_rule = {**facts, "units_follow": follow, "rule": rule}
        if (follow, rule) == (MEAN_NEED, LAST):
            of_rule["algorithm"] = ""
        mean = np.mean(units[follow], axis=0)
        rows += _rows(demand, mean, np.stack(unmet, axis=-1), by_entity[follow, rule], of_rule)
    return np.stack(actions, axis=1), rows


def _law(
    forecast: Forecast | None, totals: list[Floats], demand: Demand, now: int
) -> dict[str, Floats]:
    """Return mean, deviation (R, n) and own staff (N, 1, 1, n) after `now`; append to `totals`."""
    if forecast is None or forecast.gains is None:
        raise ValueError("the algorithm forecasts no gains; see forecasts_gains")
    (gains, spread), capacity, own = forecast.gains, demand.capacity[now], demand.own[:, now]
    mean = gains * capacity
    totals.append(np.maximum(np.maximum(mean, 0.0).sum(axis=1), _LEAST))
    level = level_variance(np.stack(totals, axis=1))[:, None]
    deviation = np.sqrt(spread * capacity**2 + level * mean**2)
    return {"mean": mean, "deviation": deviation, "own": own[:, None, None]}


def _divisions(law: Any, noisy: Floats, units: Floats, guarantee: float) -> dict[str, Floats]:
    """Return the (N, Q, R, n) divisions of the rules that see noisy counts."""
    return {
        LAST: proportional(np.maximum(noisy - law["own"], 0.0), units),
        FORECAST: proportional(np.maximum(law["mean"] - law["own"], 0.0), units),
        GUARANTEE: equal_chances(**law, units=units, guaranteed=guarantee),
        EQUAL: equal_chances(**law, units=units),
    }


def _informed(demand: Demand, units: Floats, last: slice, following: slice) -> dict[str, Floats]:
    """Return the divisions (N, Q, X, n) of the rules that see true counts, or none.

    `units` are (N, Q, X), and X is 1 or the number of rounds in the slices. An axis of length 1
    stands for all.
    """
    known = np.maximum(demand.counts[last] - demand.own[:, None, last], 0.0)
    return {
        FLOOR: proportional(demand.capacity[last], units),
        EXACT: proportional(known, units),
        ORACLE: proportional(demand.need[:, None, following], units),
    }


def references(stream: str, demand: Demand) -> Iterator[Row]:
    """Yield the rows of the rules that see no noisy counts, for units that follow the mean need."""
    need, units = demand.need[:, None, 1:], demand.units[..., None]
    divisions = _informed(demand, units, slice(-1), slice(1, None))
    divisions[FIXED] = best_fixed(need, demand.units)[..., None, :]
    facts = {"stream": stream, "algorithm": "", "noise": NO_NOISE, "mu": np.nan, "first": 0}
    for rule, division in divisions.items():
        short = np.maximum(need - division, 0.0)[:, :, None]
        own = {**facts, "units_follow": MEAN_NEED, "rule": rule}
        yield from _rows(demand, units, short.sum(-1), short.sum(-2), own)


def _rows(
    demand: Demand, units: Floats, by_round: Floats, by_entity: Floats, facts: Row
) -> Iterator[Row]:
    """Yield a row for each need and number of units.

    The numbers are (N, Q, R) `units`, and unmet need (N, Q, R, T - 1) and (N, Q, R, n).
    """
    small = np.median(demand.capacity, axis=0) < SMALL
    if facts["rule"] == ORACLE:
        # It divides as it likes among the needy, so nobody in particular falls short.
        by_entity = np.full_like(by_entity, np.nan)
    labels = product(demand.labels, demand.shares.tolist())
    units = np.broadcast_to(units, by_entity.shape[:3])
    for place, (need, share) in zip(np.ndindex(demand.units.shape), labels, strict=True):
        needed = demand.need[place[0], 1:].sum(axis=0)
        yield {
            **facts,
            "need": need,
            "units_share": share,
            "units": units[place],
            "unmet": by_round[place].sum(axis=1),
            "unmet_small": by_entity[place][:, small].sum(axis=1),
            "by_round": by_round[place].sum(axis=0),
            "by_entity": by_entity[place].sum(axis=0),
            "needed": needed,
            "needed_small": [needed[small].sum()],
        }


def table_of_divided(divided: Sequence[Row]) -> pa.Table:
    """Tabulate divisions, with the columns of `SCHEMA`."""
    if not divided:
        return pa.Table.from_batches([], SCHEMA)
    columns = {name: column([row[name] for row in divided]) for name in SCHEMA.names}
    return pa.table(columns, schema=SCHEMA)

"""The ceiling: what a person of the longest stay may lose, over all outputs of all ledgers.

By `dpol_weekly.memory` (independent noise is a case of it), a person counted in v rows of a
chain has there at most (v / W) mu^2 / 2, or N_v^2 / N_W^2 mu^2 / 2 if that is more. N_v^2 / v does
not fall with v. So a row adds at most its weight, mu^2 / 2 times the larger of 1 / W and
N_m^2 / (m N_W^2), if no more than m rows of its chain are touched. Weights add up over chains,
runs, outputs and ledgers.

A deployment has periods, a longest stay of L of them, and a budget. What entity i has spent in
period p, s(i, p), is the weight of all rows of i, in any output of the ledger, whose days overlap
p. No release raises it above budget^2 / (2 L). Then no ledger needs to know another. For in each
of two neighbouring tables, a person of the longest stay is counted in at most L periods, and in
each of them by one entity. So there are at most 2 L pairs (i, p), and every row that this person
moves is in the s(i, p) of one of them, whichever ledger keeps it. Together the rows weigh at most
2 L budget^2 / (2 L). A person who goes to another holder, in any period of any of the two tables,
chooses other pairs, but not more.

This needs two things that no ledger can see. All that is released of an entity in a period is in
one ledger. And entities count different people: a person who is counted in a hospital and in its
ward, as two entities, loses the sum of both.

A stay touches at most L rows of a chain on the deployment's grid, m = L. Of other chains it touches
what overlaps L periods; where that is less than L, m is L, too.
"""

from __future__ import annotations

import datetime
import functools
import heapq
import itertools
import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpol.core.errors import DataError
from dpol.core.rounding import rounded_down, rounded_up
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.draws import Place, memories
from dpol_weekly.holder.entries import Output, Weighed, deployments, weighed_rows
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.memory import budget_of_period, row_weight

INDEPENDENT = Fraction(0), Fraction(0), 1
"""(a, b) of noise without memory, and its unit."""
Spent = Mapping[tuple[int, int], Fraction]
"""The weight of all rows of an entity that overlap a period, by the numbers of both."""


@dataclass(frozen=True, kw_only=True)
class Worst:
    """The stay that loses most.

    Args:
        squared_mu: at most the square of its mu.
        start: of its first period.
        kept: whether every period of every entity is within its share of the budget.
    """

    squared_mu: Fraction
    start: datetime.date
    kept: bool

    @property
    def mu(self) -> float:
        """An upper bound on the mu of a person who stays so."""
        return math.sqrt(self.squared_mu)


@dataclass(frozen=True, kw_only=True)
class _Load:
    """A row, the periods of a deployment that it overlaps, and what it adds to each of them."""

    row: Weighed
    periods: range
    weight: Fraction

    def pairs(self) -> set[tuple[int, int]]:
        return {(self.row.entity, number) for number in self.periods}


def refuse_above(ledger: Ledger, run: int, places: Sequence[Place]) -> None:
    """Refuse a run that takes a period of an entity above its share of a deployment's budget.

    A period that was above before, and that the run does not raise, is let be.

    Args:
        ledger: holds the run already.
        run: its number.
        places: of its rows.

    Raises:
        DataError: a row passes the share of a deployment of the ledger.
    """
    entities = {place.entity for place in places}
    rows = [row for row in weighed_rows(ledger) if row.entity in entities]
    of_chains = memories(ledger)
    for deployment in deployments(ledger):
        loads = _loads(deployment, of_chains, rows)
        if not _raised_above(deployment, {}, loads):
            continue  # nothing is above, as a rule
        older = [row for row in rows if row.run != run]
        before = _spent(_loads(deployment, of_chains, older))
        above = _raised_above(deployment, before, loads)
        if not above:
            continue
        new = [load for load in loads if load.row.run == run]
        # Off the grid, a row may also raise what other rows of its chain weigh.
        such = [load for load in new if load.pairs() & above.keys()] or new
        by_key = {(load.row.entity, load.row.period, load.row.version): load for load in such}
        first, load = next(
            (place, by_key[key])
            for place in places
            if (key := (place.entity, place.count.period, place.version)) in by_key
        )
        pair = min(load.pairs() & above.keys() or above)
        allowed = rounded_down(math.sqrt(2 * _share(deployment)), 4)
        raise DataError(
            f"{first.count.where}: with this row its entity would have mu {_up(above[pair])} in the"
            f" period from {deployment.period_of(pair[1])} on;"
            f" {_up(before.get(pair, Fraction(0)))} is spent, and the deployment"
            f" {deployment.name} allows {allowed}, so that {deployment.longest_stay} periods"
            f" stay within budget_mu {deployment.budget_mu:g}, over all outputs of {ledger.path}"
            f" ({len(such)} of {len(new)} rows are such): leave such rows out"
        )


def worst_stay(ledger: Ledger, deployment: Deployment) -> Worst:
    """The longest stay that loses most by what a ledger released; it has rows."""
    entities: defaultdict[int, list[Fraction]] = defaultdict(list)
    spent = _spent(_loads(deployment, memories(ledger), weighed_rows(ledger)))
    for (_, number), weight in spent.items():
        entities[number].append(weight)
    numbers = sorted(entities)
    # In each period a person moves the counts of two entities at most.
    most = (sum(heapq.nlargest(2, entities[number]), Fraction(0)) for number in numbers)
    sums = [Fraction(0), *itertools.accumulate(most)]
    ends = (bisect_left(numbers, number + deployment.longest_stay) for number in numbers)
    stays = [sums[end] - sums[place] for place, end in enumerate(ends)]
    first = stays.index(max(stays))
    return Worst(
        squared_mu=stays[first],
        start=deployment.period_of(numbers[first]),
        kept=max(spent.values()) <= _share(deployment),
    )


def most_spent(ledger: Ledger, deployment: Deployment, output: Output) -> Fraction:
    """The most that an entity has spent in a period of a deployment by the rows of an output."""
    rows = [row for row in weighed_rows(ledger) if row.output == output.number]
    return max(_spent(_loads(deployment, memories(ledger), rows)).values())


def most_in_a_period(rows: Sequence[Weighed]) -> float:
    """The largest mu of one entity in one period, over all rows whose periods overlap it."""
    mus = {text: Fraction(text) for text in {row.mu for row in rows}}
    unit = math.lcm(*(mu.denominator for mu in mus.values()))
    squares = {text: int(mu * unit) ** 2 for text, mu in mus.items()}
    entities: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for row in rows:
        first = datetime.date.fromisoformat(row.period).toordinal()
        entities[row.entity].append((first, first + row.days, squares[row.mu]))
    return math.sqrt(Fraction(max(map(_most, entities.values()), default=0), unit**2))


def _most(rows: Sequence[tuple[int, int, int]]) -> int:
    """The largest sum over rows that overlap one: (first day, day after the last, its square)."""
    begun = sorted((first, square) for first, _, square in rows)
    ended = sorted((after, square) for _, after, square in rows)
    sums_begun = [0, *itertools.accumulate(square for _, square in begun)]
    sums_ended = [0, *itertools.accumulate(square for _, square in ended)]
    return max(
        sums_begun[bisect_left(begun, (after,))] - sums_ended[bisect_left(ended, (first + 1,))]
        for first, after, _ in rows
    )


def _loads(
    deployment: Deployment,
    of_chains: Mapping[int | None, tuple[Fraction, Fraction, int]],
    rows: Sequence[Weighed],
) -> list[_Load]:
    """The loads of rows, if no others are released."""

    @functools.cache
    def periods(period: str, days: int) -> range:
        first = datetime.date.fromisoformat(period)
        last = first + datetime.timedelta(days=days - 1)
        return range(deployment.number_on(first), deployment.number_on(last) + 1)

    spans = [periods(row.period, row.days) for row in rows]
    keys = [row.chain or (row.output, row.entity) for row in rows]
    of: defaultdict[Hashable, list[range]] = defaultdict(list)
    for key, span in zip(keys, spans, strict=True):
        of[key].append(span)
    stay = deployment.longest_stay
    most = {key: max(stay, _most_touched(touched, stay)) for key, touched in of.items()}

    @functools.cache
    def weight(mu: str, key: Hashable, chain: int | None) -> Fraction:
        memory = of_chains[chain] if chain else INDEPENDENT
        return row_weight(Fraction(mu), memory, most[key])

    return [
        _Load(row=row, periods=span, weight=weight(row.mu, key, row.chain))
        for row, span, key in zip(rows, spans, keys, strict=True)
    ]


def _most_touched(periods: Sequence[range], stay: int) -> int:
    """The most of some rows that a stay touches; one of the worst begins where a row ends."""
    begun, ended = sorted(it.start for it in periods), sorted(it.stop for it in periods)
    return max(bisect_left(begun, it - 1 + stay) - bisect_left(ended, it) for it in ended)


def _spent(loads: Sequence[_Load]) -> Spent:
    spent: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for load in loads:
        for number in load.periods:
            spent[load.row.entity, number] += load.weight
    return spent


def _share(deployment: Deployment) -> Fraction:
    return budget_of_period(Fraction(str(deployment.budget_mu)), deployment.longest_stay)


def _raised_above(deployment: Deployment, before: Spent, loads: Sequence[_Load]) -> Spent:
    """The pairs that are above the share and have more than before, with all that is spent."""
    share = _share(deployment)
    return {
        pair: spent
        for pair, spent in _spent(loads).items()
        if spent > share and spent > before.get(pair, 0)
    }


def _up(spent: Fraction) -> str:
    """The mu of a person who moves between two entities that have spent so much."""
    return rounded_up(math.sqrt(2 * spent), 4)

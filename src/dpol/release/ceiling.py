"""The ceiling: what a person of the longest stay may lose, over all outputs of a ledger.

An upper bound, in exact fractions. By `dpol.release.memory` (independent noise is a case of it), a
person counted in v rows of a chain has there at most (v / W) mu^2 / 2, or N_v^2 / N_W^2 mu^2 / 2 if
that is more. N_v^2 / v does not fall with v. So a row adds at most mu^2 / 2 times the larger of
1 / W and N_m^2 / (m N_W^2) if no more than m rows of its chain are touched, and squares add up over
chains, runs and outputs. In one period of one output a person moves at most two counts: the two
largest sums of an entity count. Outputs of one deployment are together one output, as they share
its entities; those of different ones need not have the same entities, so each counts for itself.

A stay of L periods of a deployment touches L of its periods, m = L. Of other outputs it touches
what begins during the stay, and the period of each entity that began before; how many rows of a
chain that is depends on their length, so m is all of them.
"""

from __future__ import annotations

import datetime
import heapq
import itertools
import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from dpol.core.errors import DataError
from dpol.core.rounding import rounded_up
from dpol.release import chains, entries
from dpol.release.agreed import AgreedTerms
from dpol.release.ledger import Ledger

INDEPENDENT = Fraction(0), Fraction(0), 1
"""(a, b) of noise without memory, and its unit."""
Group = int | str
"""The number of an output, or the name of a deployment."""


class Worst(NamedTuple):
    """The stay that loses most.

    Args:
        squared_mu: at most the square of its mu.
        start: of its first period.
    """

    squared_mu: Fraction
    start: datetime.date

    @property
    def mu(self) -> float:
        """An upper bound on the mu of a person who stays so."""
        return math.sqrt(self.squared_mu)


def refuse_above(ledger: Ledger, run: int) -> None:
    """Refuse a run that passes the ceiling of a deployment of the ledger.

    Raises:
        DataError: a longest stay that touches rows of the run would pass it.
    """
    for terms in entries.deployments(ledger):
        worst = worst_stay(ledger, terms, run)
        if worst and worst.squared_mu > Fraction(terms.budget_mu) ** 2:
            raise DataError(
                f"a person who stays {terms.longest_stay} periods from {worst.start} on would have"
                f" mu {rounded_up(worst.mu, 4)} over all outputs of {ledger.path}; the budget of"
                f" the deployment {terms.name} is {terms.budget_mu}: release less, or agree on"
                " another budget_mu"
            )


def worst_stay(ledger: Ledger, terms: AgreedTerms, run: int | None = None) -> Worst | None:
    """The longest stay that loses most, of all or of those that touch a run; None without rows."""
    loads, touched = _loads(ledger, terms, run)
    totals: defaultdict[int, Fraction] = defaultdict(Fraction)
    others: defaultdict[Group, defaultdict[int, list[tuple[int, Fraction]]]]
    others = defaultdict(lambda: defaultdict(list))
    for (group, period), load in sorted(loads.items(), key=lambda item: item[0][1]):
        totals[terms.number_of(period)[0]] += _two_largest(load.values())
        if group != terms.name:
            day = datetime.date.fromisoformat(period).toordinal()
            for entity, weight in load.items():
                others[group][entity].append((day, weight))
    numbers = sorted(totals)
    sums = [Fraction(0), *itertools.accumulate(totals[number] for number in numbers)]

    def squared_mu(first: int) -> Fraction:
        low, high = bisect_left(numbers, first), bisect_left(numbers, first + terms.longest_stay)
        day = terms.first.toordinal() + first * terms.days
        return sums[high] - sums[low] + sum(_begun(of.values(), day) for of in others.values())

    starts = {number - back for number in touched for back in range(terms.longest_stay)}
    found = max(((squared_mu(it), it) for it in starts if it >= numbers[0]), default=None)
    return found and Worst(found[0], terms.start_of(found[1]))


def budget_of_period(budget_mu: Fraction, longest_stay: int) -> Fraction:
    """The most that one entity may spend in one period, in weights of rows: budget^2 / (2 L).

    Args:
        budget_mu: the ceiling of the mu of a person of the longest stay.
        longest_stay: L, in periods.
    """
    return budget_mu**2 / (2 * longest_stay)


def row_weight(mu: Fraction, memory: tuple[Fraction, Fraction, int] | None, most: int) -> Fraction:
    """A bound on what a row adds to a stay's squared mu, for one of the two entities it moves.

    Args:
        mu: of the row.
        memory: (a, b) of its chain and the unit; None: the worst of all, of any unit.
        most: how many rows of the chain a stay may touch.
    """
    grown = Fraction(most**2) if memory is None else chains.squared_growth(memory, most)
    return mu**2 / 2 * grown / most


def _loads(
    ledger: Ledger, terms: AgreedTerms, run: int | None
) -> tuple[dict[tuple[Group, str], dict[int, Fraction]], set[int]]:
    """Weights of entities by group and period, and the periods of the grid that a run touches."""
    rows = entries.weighed_rows(ledger)
    of_chains = Counter(row.chain for row in rows)
    memories = chains.memories(ledger)
    weights: dict[tuple[str, int | None, bool, int], Fraction] = {}
    loads: defaultdict[tuple[Group, str], defaultdict[int, Fraction]]
    loads, touched = defaultdict(lambda: defaultdict(Fraction)), set()
    for row in rows:
        group = row.deployment or row.output
        key = row.mu, row.chain, group == terms.name, row.imported
        if key not in weights:
            most = terms.longest_stay if group == terms.name else of_chains[row.chain]
            # Of a chain that is forgotten: N_m is at most m N_1 for any memory and unit.
            memory = None if row.imported > 1 else memories.get(row.chain or 0, INDEPENDENT)
            weights[key] = row_weight(Fraction(row.mu), memory, most)
        loads[group, row.period][row.entity] += weights[key]
        if run in (None, row.run):
            touched.add(terms.number_of(row.period)[0])
    return {key: dict(load) for key, load in loads.items()}, touched


def _begun(entities: Iterable[list[tuple[int, Fraction]]], day: int) -> Fraction:
    """The weight of what began last before a day, for the two entities where it is largest."""
    places = ((rows, bisect_left(rows, (day,))) for rows in entities)
    return _two_largest(rows[place - 1][1] for rows, place in places if place)


def _two_largest(weights: Iterable[Fraction]) -> Fraction:
    return sum(heapq.nlargest(2, weights), Fraction(0))

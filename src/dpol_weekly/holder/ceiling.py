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
from fractions import Fraction
from typing import NamedTuple

from dpol.core.errors import DataError
from dpol.core.rounding import rounded_down, rounded_up
from dpol_weekly.holder import chains, entries
from dpol_weekly.holder.agreed import AgreedTerms
from dpol_weekly.holder.entries import Place, Weighed
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.holder.overlaps import intervals
from dpol_weekly.holder.request import Request

INDEPENDENT = Fraction(0), Fraction(0), 1
"""(a, b) of noise without memory, and its unit."""
Spent = Mapping[tuple[int, int], Fraction]
"""The weight of all rows of an entity that overlap a period, by the numbers of both."""
_LEAST_MU = 0.001
_UNKNOWN = ", where a period without a stated length counts until the next one in its output begins"


class Worst(NamedTuple):
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


def budget_of_period(budget_mu: Fraction, longest_stay: int) -> Fraction:
    """The most that one entity may spend in one period, in weights of rows: budget^2 / (2 L).

    Args:
        budget_mu: the ceiling of the mu of a person of the longest stay.
        longest_stay: L, in periods.
    """
    return budget_mu**2 / (2 * longest_stay)


def row_weight(mu: Fraction, memory: tuple[Fraction, Fraction, int], most: int) -> Fraction:
    """A bound on what a row adds to a stay's squared mu, for one of the two entities it moves.

    Args:
        mu: of the row.
        memory: (a, b) of its chain and the unit.
        most: how many rows of the chain a stay may touch.
    """
    return mu**2 / 2 * chains.squared_growth(memory, most) / most


def refuse_above(ledger: Ledger, run: int, request: Request, places: Sequence[Place]) -> None:
    """Refuse a run that takes a period of an entity above its share of a deployment's budget.

    A period that was above before, and that the run does not raise, is let be.

    Args:
        ledger: holds the run already.
        run: its number.
        request: what is to be released.
        places: of its rows.

    Raises:
        DataError: a row passes the share of a deployment of the ledger.
    """
    entities = {place.entity for place in places}
    rows = [row for row in entries.weighed_rows(ledger) if row.entity in entities]
    memories = chains.memories(ledger)
    for terms in entries.deployments(ledger):
        loads_of = functools.partial(_loads, terms, memories, _end(terms, rows))
        loads = loads_of(rows)
        if not _raised_above(terms, {}, loads):
            continue  # nothing is above, as a rule
        before = _spent(loads_of([row for row in rows if row.run != run]))
        above = _raised_above(terms, before, loads)
        if not above:
            continue
        new = [load for load in loads if load.row.run == run]
        # Off the grid, a row may also raise what other rows of its chain weigh.
        such = [load for load in new if load.pairs() & above.keys()] or new
        left_out = {load.row for load in such}
        others = loads_of([row for row in rows if row not in left_out])
        fit = len(such) < len(new) and not _raised_above(terms, before, others)
        lines = {_key(place): place.line for place in places}
        first = min(such, key=lambda load: lines[_key(load.row)])
        pair = min(first.pairs() & above.keys() or above)
        old = [it.row for it in loads if pair in it.pairs() and it.row.run != run]
        raise DataError(
            f"{request.table}, line {lines[_key(first.row)]}: "
            f"{_passed(terms, before, above, pair)}, over all outputs of {ledger.path}"
            f"{_UNKNOWN if any(row.days is None for row in old) else ''}"
            f" ({len(such)} of {len(new)} rows are such):"
            f" leave such rows out{', the others fit' if fit else ''}"
            f"{_ways_by_hand(request, terms, before, above, new)}"
        )


def worst_stay(ledger: Ledger, terms: AgreedTerms) -> Worst | None:
    """The longest stay that loses most by what a ledger released; None without rows."""
    rows = entries.weighed_rows(ledger)
    loads = _loads(terms, chains.memories(ledger), _end(terms, rows), rows)
    entities: defaultdict[int, list[Fraction]] = defaultdict(list)
    spent = _spent(loads)
    for (_, number), weight in spent.items():
        entities[number].append(weight)
    if not spent:
        return None
    numbers = sorted(entities)
    # In each period a person moves the counts of two entities at most.
    most = (sum(heapq.nlargest(2, entities[number]), Fraction(0)) for number in numbers)
    sums = [Fraction(0), *itertools.accumulate(most)]
    ends = (bisect_left(numbers, number + terms.longest_stay) for number in numbers)
    stays = [sums[end] - sums[place] for place, end in enumerate(ends)]
    first = stays.index(max(stays))
    kept = max(spent.values()) <= _share(terms)
    return Worst(stays[first], terms.start_of(numbers[first]), kept)


class _Load(NamedTuple):
    """A row, the periods of a deployment that it overlaps, and what it adds to each of them."""

    row: Weighed
    periods: range
    weight: Fraction

    def pairs(self) -> set[tuple[int, int]]:
        return {(self.row.entity, number) for number in self.periods}


def _loads(
    terms: AgreedTerms,
    memories: Mapping[int, tuple[Fraction, Fraction, int]],
    end: int,
    rows: Sequence[Weighed],
) -> list[_Load]:
    """The loads of rows, if no others are released; open periods end at a number."""
    spans = [
        range(terms.number_on(first), end if after is None else terms.number_on(after - 1) + 1)
        for first, after in intervals(rows)
    ]
    keys = [row.chain or (row.output, row.entity) for row in rows]
    of: defaultdict[Hashable, list[range]] = defaultdict(list)
    for key, span in zip(keys, spans, strict=True):
        of[key].append(span)
    stay = terms.longest_stay
    most = {key: max(stay, _most_touched(own, stay)) for key, own in of.items()}

    @functools.cache
    def weight(mu: str, key: Hashable, chain: int) -> Fraction:
        return row_weight(Fraction(mu), memories.get(chain, INDEPENDENT), most[key])

    return [
        _Load(row, span, weight(row.mu, key, row.chain or 0))
        for row, span, key in zip(rows, spans, keys, strict=True)
    ]


def _end(terms: AgreedTerms, rows: Sequence[Weighed]) -> int:
    """The number of a period by which all is over, and the longest stay after it."""
    days = (first if after is None else after for first, after in intervals(rows))
    return max(map(terms.number_on, days), default=0) + 1 + terms.longest_stay


def _most_touched(periods: Sequence[range], stay: int) -> int:
    """The most of some rows that a stay touches; one of the worst begins where a row ends."""
    begun, ended = sorted(it.start for it in periods), sorted(it.stop for it in periods)
    return max(bisect_left(begun, it - 1 + stay) - bisect_left(ended, it) for it in ended)


def _spent(loads: Sequence[_Load]) -> Spent:
    spent: dict[tuple[int, int], Fraction] = {}
    for row, periods, weight in loads:
        for number in periods:
            pair = row.entity, number
            spent[pair] = spent[pair] + weight if pair in spent else weight
    return spent


def _share(terms: AgreedTerms) -> Fraction:
    return budget_of_period(Fraction(terms.budget_mu), terms.longest_stay)


def _raised_above(terms: AgreedTerms, before: Spent, loads: Sequence[_Load]) -> Spent:
    """The pairs that are above the share and have more than before, with all that is spent."""
    share = _share(terms)
    return {
        pair: spent
        for pair, spent in _spent(loads).items()
        if spent > share and spent > before.get(pair, 0)
    }


def _passed(terms: AgreedTerms, before: Spent, above: Spent, pair: tuple[int, int]) -> str:
    spent = before.get(pair, Fraction(0))
    return (
        f"with this row its entity would have mu {_up(above[pair])} in the period from"
        f" {terms.start_of(pair[1])} on; {_up(spent)} is spent, and the deployment {terms.name}"
        f" allows {_down(_share(terms))}, so that {terms.longest_stay} periods stay within"
        f" budget_mu {terms.budget_mu}"
    )


def _key(row: Place | Weighed) -> tuple[int, str, int]:
    return row.entity, row.period, row.version


def _ways_by_hand(
    request: Request, terms: AgreedTerms, before: Spent, above: Spent, new: Sequence[_Load]
) -> str:
    """Other ways to release rows that pass a share, where no deployment says how."""
    if request.agreed:
        return ""
    ways, added = "", _spent(new)
    room = min(
        (max(_share(terms), before.get(pair, Fraction(0))) - spent) / added[pair] + 1
        if pair in added
        else Fraction(0)
        for pair, spent in above.items()
    )
    # A designed memory is longer for a smaller mu.
    if not (request.memory and request.memory.numbers is None) and room > 0:
        mu = rounded_down(float(request.noise.mu) * math.sqrt(room), 4)
        ways += f", or release with mu up to {mu}" if float(mu) >= _LEAST_MU else ""
    if request.days is None:
        ways += ", or give the length of a period with --period-days: without one it has no end"
    return ways


def _up(spent: Fraction) -> str:
    """The mu of a person who moves between two entities that have spent so much."""
    return rounded_up(math.sqrt(2 * spent), 4)


def _down(spent: Fraction) -> str:
    return rounded_down(math.sqrt(2 * spent), 4)

"""The ceiling on a person's loss over all outputs of a ledger; proved in `dpol_weekly.budget`.

s(i, p) is the sum of mu^2 over all rows of entity i whose days overlap period p, released or marked
by the ledger. Each agreement of the ledger has its own grid of periods and its own share, and no
release raises any s(i, p) above the share.
"""

from __future__ import annotations

import datetime
import heapq
import itertools
import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpol.core.errors import DataError
from dpol.core.rounding import rounded_down, rounded_up
from dpol_weekly.budget import most_in_a_period
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.counts import Count
from dpol_weekly.holder.entries import Output, agreed, deployments, entities_of, select
from dpol_weekly.holder.ledger import Ledger

Spent = Mapping[tuple[int, int], Fraction]
"""s(i, p) by the numbers of the entity and of the period."""


@dataclass(frozen=True, kw_only=True)
class Worst:
    """The stay with the largest loss.

    Args:
        squared_mu: upper bound on its squared mu.
        start: start of its first period.
        kept: whether every period of every entity is within its share of the budget.
    """

    squared_mu: Fraction
    start: datetime.date
    kept: bool

    @property
    def mu(self) -> float:
        """An upper bound on the mu of this stay."""
        return math.sqrt(self.squared_mu)


def refuse_above(ledger: Ledger, deployment: Deployment, counts: Sequence[Count]) -> None:
    """Refuse counts that would exceed an entity's share of the budget in a period.

    Args:
        ledger: the ledger, before it releases the counts.
        deployment: the agreement of the release.
        counts: the counts in the order of the rows.

    Raises:
        DataError: a row exceeds the share of this agreement, or of another one in the ledger.
    """
    numbers = entities_of(ledger, {count.entity for count in counts})
    square = Fraction(str(deployment.mu)) ** 2
    known = {other.name: other for other in deployments(ledger)} | {deployment.name: deployment}
    for judged in known.values():
        share, before = _share(judged), spent(ledger, judged)
        now = defaultdict(Fraction, before)
        keys = [
            [
                (numbers[count.entity], number)
                for number in _overlapped(judged, count.period, deployment)
            ]
            for count in counts
        ]
        for key in itertools.chain(*keys):
            now[key] += square
        for count, of_count in zip(counts, keys, strict=True):
            for key in of_count:
                if now[key] > share:
                    raise DataError(
                        f"{count.where}: with this row its entity would have mu {_up(now[key])} in"
                        f" the period from {judged.period_of(key[1])} on;"
                        f" {_up(before.get(key, Fraction(0)))} is spent, and the deployment"
                        f" {judged.name} allows {rounded_down(math.sqrt(share), 4)}, so that"
                        f" {judged.longest_stay} periods stay within budget_mu"
                        f" {judged.budget_mu:g}, over all outputs of {ledger.path}; leave such rows"
                        " out"
                    )


def worst_stay(ledger: Ledger, deployment: Deployment) -> Worst:
    """Return the stay of full length with the largest loss from the releases of a ledger."""
    entities: defaultdict[int, list[Fraction]] = defaultdict(list)
    found = spent(ledger, deployment)
    for (_, number), squares in found.items():
        entities[number].append(squares)
    # In each period a person moves the counts of two entities at most, each for half of mu^2.
    numbers = sorted(entities)
    most = (sum(heapq.nlargest(2, entities[number]), Fraction(0)) / 2 for number in numbers)
    sums = [Fraction(0), *itertools.accumulate(most)]
    ends = (bisect_left(numbers, number + deployment.longest_stay) for number in numbers)
    stays = [sums[end] - sums[place] for place, end in enumerate(ends)] or [Fraction(0)]
    first = stays.index(max(stays))
    return Worst(
        squared_mu=stays[first],
        start=deployment.period_of(numbers[first] if numbers else 0),
        kept=max(found.values(), default=Fraction(0)) <= _share(deployment),
    )


def spent(ledger: Ledger, deployment: Deployment, output: Output | None = None) -> Spent:
    """Return the sums of mu^2 spent, by entity and period of an agreement.

    Args:
        ledger: the ledger.
        deployment: the agreement; it defines the periods.
        output: count only the rows of this output; None: all rows and all marked periods.
    """
    statement = "SELECT entity, period, agreement, COUNT(*) AS times FROM released"
    rows = " GROUP BY entity, period, deployment"
    if output:
        statement += f" WHERE output = {output.number}{rows}"
    else:
        statement += (
            f"{rows} UNION ALL SELECT entity, period, agreement, times FROM marked"
            " JOIN deployment ON deployment.number = marked.deployment"
        )
    found: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for row in select(ledger, statement):
        made = agreed(row["agreement"])
        square = row["times"] * Fraction(str(made.mu)) ** 2
        for number in _overlapped(deployment, row["period"], made):
            found[row["entity"], number] += square
    return found


def _overlapped(deployment: Deployment, period: str, made: Deployment) -> range:
    """Return the numbers of an agreement's periods that overlap a period of another agreement."""
    first = datetime.date.fromisoformat(period)
    last = first + datetime.timedelta(days=made.periods.days - 1)
    return range(deployment.number_on(first), deployment.number_on(last) + 1)


def _share(deployment: Deployment) -> Fraction:
    return most_in_a_period(Fraction(str(deployment.budget_mu)), deployment.longest_stay)


def _up(squares: Fraction) -> str:
    return rounded_up(math.sqrt(squares), 4)

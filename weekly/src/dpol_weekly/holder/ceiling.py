"""The ceiling on a person's loss over all outputs of a ledger; proved in `dpol_weekly.budget`.

s(i, p) is the sum of mu^2 over all rows of entity i whose days overlap period p, released by the
ledger. Each agreement of the ledger has its own grid of periods and its own share, and no
release raises any s(i, p) above the share.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

from dpol.core.errors import DataError
from dpol.core.rounding import rounded_down, rounded_up
from dpol_weekly.budget import most_in_a_period, mu_of_such_stay
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.counts import Count
from dpol_weekly.holder.entries import Output, agreed, deployments, select
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.records import alike

Spent = Mapping[tuple[str, int], Fraction]
"""s(i, p) by the entity, as `alike` writes it, and the number of the period."""


def refuse_above(ledger: Ledger, deployment: Deployment, counts: Sequence[Count]) -> None:
    """Refuse counts that would exceed an entity's share of the budget in a period.

    Args:
        ledger: the ledger, before it releases the counts.
        deployment: the agreement of the release.
        counts: the counts in the order of the rows.

    Raises:
        DataError: a row exceeds the share of this agreement, or of another one in the ledger.
    """
    begin_after, square = ledger.begin_after, Fraction(str(deployment.mu)) ** 2
    known = {other.name: other for other in deployments(ledger)} | {deployment.name: deployment}
    for judged in known.values():
        share, before = _share(judged), spent(ledger, judged)
        now = defaultdict(Fraction, before)
        keys = [
            [
                (alike(count.entity), number)
                for number in _overlapped(judged, count.period, deployment)
            ]
            for count in counts
        ]
        for key in itertools.chain(*keys):
            now[key] += square
        for count, of_count in zip(counts, keys, strict=True):
            for key in of_count:
                # A ledger that is lost may have spent all of a period that begins before.
                if judged.period_of(key[1]).isoformat() <= begin_after:
                    raise DataError(
                        f"{count.where}: overlaps the period from {judged.period_of(key[1])} on of"
                        f" the deployment {judged.name}, and the ledger was begun after"
                        f" {begin_after}, within it; leave such rows out"
                    )
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


def mu_of_stay(ledger: Ledger, deployment: Deployment) -> tuple[float, bool]:
    """Return an upper bound on the mu of the longest stay, from all releases of a ledger.

    Also returns whether every period of every entity is within its share of the budget.
    """
    most = max(spent(ledger, deployment).values(), default=Fraction(0))
    return mu_of_such_stay(most, deployment.longest_stay), most <= _share(deployment)


def spent(ledger: Ledger, deployment: Deployment, output: Output | None = None) -> Spent:
    """Return the sums of mu^2 spent, by entity and period of an agreement.

    Args:
        ledger: the ledger.
        deployment: the agreement; it defines the periods.
        output: count only the rows of this output; None: all rows.
    """
    of = f"WHERE output = {output.number}" if output else ""
    statement = (
        f"SELECT entity, period, agreement, COUNT(*) AS times FROM released {of}"
        " GROUP BY entity, period, deployment"
    )
    found: defaultdict[tuple[str, int], Fraction] = defaultdict(Fraction)
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

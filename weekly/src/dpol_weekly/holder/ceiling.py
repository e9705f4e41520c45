"""The ceiling on a person's loss over all outputs of a ledger; proved in `dpol_weekly.budget`.

s(i, p) is what the ledger has spent on a person whom entity i of an agreement counts in period p,
under this agreement and all others, with the releases that their calendars still bring. Each
agreement of the ledger has its own grid of periods, its own sensitivity and its own share, and no
release raises any s(i, p) above the share.
"""

from __future__ import annotations

import datetime
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from dpol.core.errors import DataError
from dpol.core.rounding import AtLeast, AtMost
from dpol_weekly.budget import most_in_a_period, mu_of_move
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.counts import Count
from dpol_weekly.holder.entries import agreed, agreements, select
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.records import alike

OTHERS = ""
"""Any entity of which the ledger has released nothing under the agreement itself."""
Spent = Mapping[tuple[str, int], Fraction]
"""s(i, p) by the entity, as `alike` writes it, or `OTHERS`, and the number of the period."""


class _Rows(NamedTuple):
    """Rows of an entity and a period: their agreement, and their number, released or scheduled."""

    made: Deployment
    entity: str
    period: str
    times: int


def refuse_above(ledger: Ledger, deployment: Deployment, counts: Sequence[Count]) -> None:
    """Refuse counts that would exceed an entity's share of the budget in a period.

    Args:
        ledger: the ledger, before it releases the counts.
        deployment: the agreement of the release.
        counts: the counts in the order of the rows.

    Raises:
        DataError: a row exceeds the share of this agreement, or of another one in the ledger.
    """
    begin_after, known = ledger.begin_after, _rows(ledger)
    new = [_Rows(deployment, alike(count.entity), count.period, 1) for count in counts]
    others = {it.name: it for it in agreements(ledger, released=True)}
    for judged in (others | {deployment.name: deployment}).values():
        share, before, now = _share(judged), _sums(known, judged), _sums([*known, *new], judged)
        entities = defaultdict[int, list[str]](list)
        for entity, number in now:
            entities[number].append(entity)
        for count, row in zip(counts, new, strict=True):
            for number in _overlapped(judged, deployment, row.period):
                # A ledger that is lost may have spent all of a period that begins before.
                if judged.period_of(number).isoformat() <= begin_after:
                    raise DataError(
                        f"{count.where}: overlaps the period from {judged.period_of(number)} on of"
                        f" the deployment {judged.name}, and the ledger was begun after"
                        f" {begin_after}, within it; leave such rows out"
                    )
                own = judged.name == deployment.name
                counting = [row.entity] if own else entities[number]
                most, entity = max((now[it, number], it) for it in counting)
                was = before.get((entity, number), before.get((OTHERS, number), Fraction(0)))
                if share < most > was:
                    raise DataError(
                        f"{count.where}: with this row, a person under the deployment"
                        f" {judged.name} would have mu {_up(most)} in the period from"
                        f" {judged.period_of(number)} on; {_up(was)} is spent, and"
                        f" {AtLeast(math.sqrt(share), digits=4)} is allowed, so that budget_mu"
                        f" {judged.budget_mu:g} holds; leave such rows out"
                    )


def mu_of_stay(ledger: Ledger, deployment: Deployment) -> tuple[float, bool]:
    """Return an upper bound on the mu of the longest stay, from all releases of a ledger.

    Also returns whether every period of every entity is within its share of the budget.
    """
    most = max(spent(ledger, deployment).values(), default=Fraction(0))
    return math.sqrt(deployment.longest_stay * most), most <= _share(deployment)


def spent(ledger: Ledger, deployment: Deployment) -> Spent:
    """Return what was spent, by entity and period of an agreement.

    Args:
        ledger: the ledger.
        deployment: the agreement; it defines the periods, and how far a person moves a count.
    """
    return _sums(_rows(ledger), deployment)


def _rows(ledger: Ledger) -> list[_Rows]:
    statement = (
        "SELECT agreement, entity, period, COUNT(*) FROM released"
        " GROUP BY entity, period, deployment"
    )
    return [_Rows(agreed(text), *rest) for text, *rest in select(ledger, statement)]


def _sums(released: Sequence[_Rows], judged: Deployment) -> Spent:
    """Return what rows cost a person of an agreement, by its entities and periods."""
    moved = Fraction(str(judged.count_sensitivity))
    made = {row.made.name: row.made for row in released}
    times = Counter[tuple[str, str, str]]()
    for row in released:
        times[row.made.name, row.entity, row.period] += row.times
    own = defaultdict[tuple[str, int], Fraction](Fraction)
    others = defaultdict[tuple[str, str], Fraction](Fraction)
    for (name, entity, period), released_times in times.items():
        terms = made[name]
        made_for = Fraction(str(terms.count_sensitivity))
        mu = mu_of_move(Fraction(str(terms.mu)), moved=moved, made_for=made_for)
        squares = terms.counted_by * max(released_times, terms.scheduled) * mu**2
        if name != judged.name:
            others[name, period] = max(others[name, period], squares)
            continue
        for number in _overlapped(judged, made[name], period):
            own[entity, number] += squares
    for (name, period), squares in others.items():
        for number in _overlapped(judged, made[name], period):
            own[OTHERS, number] += squares
    return {
        (entity, number): square + (entity != OTHERS) * own.get((OTHERS, number), 0)
        for (entity, number), square in own.items()
    }


def _overlapped(deployment: Deployment, made: Deployment, period: str) -> range:
    """Return the numbers of an agreement's periods that share a day with a period of another."""
    first = datetime.date.fromisoformat(period)
    return range(deployment.number_on(first), deployment.number_on(made.last_day(first)) + 1)


def _share(deployment: Deployment) -> Fraction:
    return most_in_a_period(Fraction(str(deployment.budget_mu)), deployment.longest_stay)


def _up(squares: Fraction) -> AtMost:
    return AtMost(math.sqrt(squares), digits=4)

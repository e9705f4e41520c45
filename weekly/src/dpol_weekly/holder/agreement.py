"""The agreement of a deployment: in words, and confirmed by a holder.

It is what touches the guarantee. Its author decides what becomes public of a holder's table,
so nothing is released before the holder has confirmed what it says.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError
from dpol.core.rounding import rounded_up
from dpol.core.words import counted, printable
from dpol.privacy.account import best_guess
from dpol.show.pages import load_template
from dpol_weekly.deployment import Deployment, refuse_amendment, short
from dpol_weekly.holder.entries import add_deployment, agreements
from dpol_weekly.holder.ledger import Ledger, transaction
from dpol_weekly.holder.settings import ColumnUse
from dpol_weekly.memory import numbers_of, terms_of


class NotConfirmedError(DataError):
    """The holder has not confirmed an agreement yet.

    Args:
        statement: the agreement in words, to be shown.
        deployment: the deployment.
    """

    def __init__(self, statement: str, deployment: Deployment) -> None:
        self.statement, self.sha256 = statement, deployment.sha256()
        super().__init__(
            f"nothing was released: the agreement {deployment.name} is not confirmed; read what"
            f" it says above, then add --agree {short(self.sha256)}"
        )


def confirm(
    ledger: Ledger,
    deployment: Deployment,
    use: ColumnUse,
    *,
    agree: bool,
) -> None:
    """Make sure that the holder has confirmed the agreement of a deployment.

    The ledger remembers it in a transaction of its own: it stays if the rows are refused later.

    Raises:
        NotConfirmedError: as `refuse_unconfirmed`, unless it was confirmed before.
        ConfigError: it amends one that was confirmed, and changes more than it may.
    """
    with transaction(ledger):
        confirmed = {it.sha256(): it for it in agreements(ledger)}
        if deployment.sha256() in confirmed:
            return
        before = {key: it for key, it in confirmed.items() if it.name == deployment.name}
        last = next(reversed(before.values()), None)
        if deployment.amends and deployment.amends.agreement in before:
            last = before[deployment.amends.agreement]
            refuse_amendment(last, deployment, f"the agreement {deployment.name}")
        refuse_unconfirmed(deployment, use, agree=agree, before=last)
        add_deployment(ledger, deployment)


def refuse_unconfirmed(
    deployment: Deployment,
    use: ColumnUse,
    *,
    agree: bool,
    before: Deployment | None = None,
    new_ledger: Path | None = None,
) -> None:
    """Refuse to release for a deployment whose agreement is not confirmed.

    Args:
        deployment: the deployment.
        use: the columns that are read.
        agree: whether the holder confirms it.
        before: the deployment as it was confirmed last.
        new_ledger: the ledger, if it is still to be made.

    Raises:
        NotConfirmedError: the agreement is not confirmed.
    """
    if not agree:
        raise NotConfirmedError(_statement(deployment, use, before, new_ledger), deployment)


def _statement(
    deployment: Deployment,
    use: ColumnUse,
    before: Deployment | None,
    new_ledger: Path | None,
) -> str:
    """The agreement in plain words; guarantees rounded to the safe side."""
    amended = deployment.amends and deployment.amends.agreement
    text = load_template("agreement.txt.j2", "dpol_weekly.holder").render(
        agreed=deployment,
        short=short(deployment.sha256()),
        changes=list(changes(before.agreement(), deployment.agreement())) if before else [],
        amends=before and before.sha256() == amended,
        room=_room(deployment),
        twice=math.sqrt(2) * deployment.mu,
        deviation=_least_deviation(deployment),
        sensitivity=deployment.sensitivity_text,
        use=use,
        new_ledger=new_ledger and printable(str(new_ledger)),
        mu_of_one=deployment.mu / deployment.count_sensitivity,
        counted=counted,
        up=lambda mu: rounded_up(mu, 4),
        guess=lambda mu: rounded_up(100 * best_guess(mu), 3),
    )
    return "\n".join(map(printable, text.splitlines()))


def changes(before: str, now: str) -> Iterator[str]:
    """Lines that say what differs between two agreements, such as `budget_mu: 0.71 -> 100`."""
    old, new = (dict(_flat(json.loads(text))) for text in (before, now))
    for key in sorted({*old, *new}):
        was, will_be = _shown(old.get(key)), _shown(new.get(key))
        if was != will_be:
            yield f"{key}: {was} -> {will_be}"


def _least_deviation(deployment: Deployment) -> float:
    """The least standard deviation of the noise on any count, in people."""
    noise, memory = deployment.count_noise(), deployment.memory()
    if memory is None:
        return noise.standard_deviation
    beds = [entity.beds for entity in deployment.entities.values()]
    numbers = numbers_of(noise, memory, [float(it) for it in beds if it is not None])
    if None in beds:  # of a very large entity, whose noise remembers nothing
        numbers.append((Decimal(0), Decimal(0)))
    return min(terms_of(noise, own, memory).standard_deviation_after(0) for own in numbers)


def _room(deployment: Deployment) -> str:
    """The number of corrections of each count for which the budget has room."""
    squared = Fraction(str(deployment.budget_mu)) ** 2
    room = squared // deployment.squared_budget() - 1
    if deployment.noise.memory == "none":
        return str(room or "none")
    return f"at least {room}" if room else "few or none"  # more, where little is remembered


def _flat(plain: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in plain.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else str(value)

"""The agreement of a deployment: in canonical form, in words, and confirmed by a holder.

It is what touches the guarantee. Its author decides what becomes public of a holder's table,
so nothing is released before the holder has confirmed what it says.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError
from dpol.core.rounding import rounded_up
from dpol.core.words import counted, printable
from dpol.privacy.account import best_guess
from dpol.show.pages import load_template
from dpol_weekly.holder.agreed import Agreed
from dpol_weekly.holder.ledger import Ledger, transaction
from dpol_weekly.holder.request import Request
from dpol_weekly.memory import Memory, numbers_of, terms_of
from dpol_weekly.noise import CountNoise, decimal_text

_MOST_NAMES = 10


class NotConfirmedError(DataError):
    """The holder has not confirmed an agreement yet.

    Args:
        statement: the agreement in words, to be shown.
        agreed: the deployment, and the hash to confirm it with.
    """

    def __init__(self, statement: str, agreed: Agreed) -> None:
        self.statement, self.sha256 = statement, agreed.terms.sha256
        super().__init__(
            f"nothing was released: the agreement {agreed.terms.name} is not confirmed; read what"
            f" it says above, then add --agree {short(self.sha256)}"
        )


def canonical_text(plain: Mapping[str, Any]) -> str:
    """Plain values as JSON in one way only: keys sorted, 1.0 written as 1.

    >>> canonical_text({"mu": 1.0, "days": 7}) == canonical_text({"days": 7.0, "mu": 1})
    True
    """
    return json.dumps(_canonical(plain), sort_keys=True, ensure_ascii=False)


def checksum(text: str) -> str:
    """The hash of an agreement in canonical form, 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def short(sha256: str) -> str:
    """The first digits of a hash, enough to confirm it."""
    return sha256[:12]


def confirm(ledger: Ledger, request: Request) -> None:
    """Make sure that the holder has confirmed the agreement of a request.

    The ledger remembers it in a transaction of its own: it stays if the rows are refused later.

    Raises:
        NotConfirmedError, DataError: as `refuse_unconfirmed`, unless it was confirmed before.
    """
    if agreed := request.agreed:
        with transaction(ledger):
            known = "SELECT 1 FROM deployment WHERE sha256 = ?"
            if not ledger.execute(known, agreed.terms.sha256).fetchone():
                refuse_unconfirmed(request, _last_agreement(ledger, agreed.terms.name))
                keep_agreement(ledger, agreed)


def refuse_unconfirmed(
    request: Request, before: str | None = None, *, new_ledger: Path | None = None
) -> None:
    """Refuse a request for a deployment that does not confirm its agreement.

    Args:
        request: what is to be released.
        before: the agreement of the deployment that was confirmed last.
        new_ledger: the ledger, if it is still to be made.

    Raises:
        NotConfirmedError: the request does not confirm the agreement.
        DataError: its count sensitivity is below 1, and the request does not confirm that.
    """
    agreed, sensitivity = request.agreed, request.noise.count_sensitivity
    if agreed is None:
        return
    if sensitivity < 1 and request.agree_sensitivity is None:
        number = decimal_text(sensitivity)
        raise DataError(
            f"nothing was released: the deployment {agreed.terms.name} protects people who change a"
            f" count by {number}, and one person who is counted changes it by 1; agree on"
            f" count_sensitivity: 1, or add --agree-sensitivity {number} if {number} is right"
        )
    if request.agree is None:
        raise NotConfirmedError(statement(request, before, new_ledger=new_ledger), agreed)


def keep_agreement(ledger: Ledger, agreed: Agreed) -> None:
    """Remember that the holder has confirmed an agreement."""
    today, terms = datetime.datetime.now(datetime.UTC).date().isoformat(), agreed.terms
    ledger.insert(
        "INSERT INTO deployment (name, sha256, first, days, longest_stay, budget_mu, agreement,"
        " confirmed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        *(terms.name, terms.sha256, str(terms.first), terms.days, terms.longest_stay),
        *(f"{terms.budget_mu:f}", agreed.agreement, today),
    )


def agreements(ledger: Ledger) -> list[Mapping[str, Any]]:
    """All agreements that were confirmed, as plain values."""
    return [json.loads(text) for (text,) in ledger.execute("SELECT agreement FROM deployment")]


def statement(
    request: Request, before: str | None = None, *, new_ledger: Path | None = None
) -> str:
    """The agreement of a request in plain words; guarantees rounded to the safe side.

    Args:
        request: for a deployment.
        before: the agreement confirmed last, to say what has changed.
        new_ledger: the ledger, if it is still to be made.
    """
    assert request.agreed is not None
    plain = json.loads(request.agreed.agreement)
    capacities = {name: entity["capacity"] for name, entity in plain["entities"].items()}
    reported = [name for name, beds in capacities.items() if beds == "reported"]
    beds = [float(it) for it in capacities.values() if it != "reported"]
    noise, columns = request.noise, request.columns
    in_clear = [columns.entity, columns.period]
    text = load_template("agreement.txt.j2", "dpol_weekly.holder").render(
        plain=plain,
        short=short(request.agreed.terms.sha256),
        changes=list(changes(before, request.agreed.agreement)) if before else [],
        deviation=_least_deviation(noise, request.memory, beds, bool(reported)),
        sensitivity=decimal_text(noise.count_sensitivity),
        in_clear=in_clear,
        capacity=columns.capacity,
        reported=_listed(reported) if len(reported) < len(capacities) else "every entity",
        any_reported=bool(reported),
        new_ledger=new_ledger and printable(str(new_ledger)),
        mu_of_one=plain["mu"] / float(noise.count_sensitivity),
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


def _last_agreement(ledger: Ledger, name: str) -> str | None:
    """The agreement of a deployment that was released for last, or confirmed last."""
    found = ledger.execute(
        "SELECT agreement FROM deployment LEFT JOIN run ON run.deployment = deployment.number"
        " WHERE name = ? ORDER BY run.number DESC, deployment.number DESC LIMIT 1",
        name,
    ).fetchone()
    return found and str(found[0])


def _least_deviation(
    noise: CountNoise, memory: Memory | None, beds: list[float], any_reported: bool
) -> float:
    """The least standard deviation of the noise on any count, in people."""
    if memory is None:
        return noise.standard_deviation
    numbers = numbers_of(noise, memory, beds)
    if any_reported:  # of a very large entity, whose noise remembers nothing
        numbers.append((Decimal(0), Decimal(0)))
    return min(terms_of(noise, own, memory).standard_deviation_after(0) for own in numbers)


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _canonical(inner) for key, inner in value.items()}
    whole = isinstance(value, float) and math.isfinite(value) and value == int(value)
    return int(value) if whole else value


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


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more

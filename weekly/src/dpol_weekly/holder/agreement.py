"""Put an agreement into words, and have the holder confirm it.

The guarantee depends on it, and its author decides which parts of a holder's table become public.
So nothing is released before the holder has confirmed it.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from pathlib import Path

import yaml

from dpol.core.errors import DataError
from dpol.core.safe_text import printable
from dpol_weekly.deployment import Deployment, refuse_amendment
from dpol_weekly.holder.entries import add_deployment, agreements
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.holder.request import Request
from dpol_weekly.prose import lines_of


class NotConfirmedError(DataError):
    """The holder has not confirmed an agreement, or the beginning of a ledger, yet.

    Args:
        statement: the agreement in words, to show.
        deployment: the deployment.
        new_ledger: path of a new ledger that only a person on a terminal may begin.
    """

    def __init__(
        self, statement: str, deployment: Deployment, *, new_ledger: Path | None = None
    ) -> None:
        self.statement, self.sha256 = statement, deployment.sha256()
        self.in_person = new_ledger is not None
        remedy = (
            f"the ledger {new_ledger} is not there, and only a person on a terminal begins one"
            " without --begin-after DATE: the last day of the last period that was ever released of"
            " these people, or today's date; if there is none, the day before the first period"
            if new_ledger
            else f"the agreement {deployment.name} is not confirmed; read what it says above, then"
            " confirm it, on a terminal or by its whole hash"
        )
        super().__init__(f"nothing was released: {remedy}")


def confirm(ledger: Ledger, request: Request) -> None:
    """Check that the holder has confirmed the agreement, and enter a new confirmation.

    An agreement that amends one of the ledger, or has the name of one with releases, may change
    what an amendment may, whatever it is called. It may be taken late: a released period stays as
    it was, and `refuse_renamed` and `due` keep it from being released again.

    Raises:
        NotConfirmedError: the agreement is not confirmed.
        ConfigError: it changes more than an amendment may, or has the name of an agreement with
            releases and amends none that the ledger knows.
    """
    deployment, place = request.deployment, f"the agreement {request.deployment.name}"
    known = {agreement.sha256(): agreement for agreement in agreements(ledger)}
    if deployment.sha256() in known:
        return
    released = [it for it in agreements(ledger, released=True) if it.name == deployment.name]
    amended = known.get(deployment.amends.agreement) if deployment.amends else None
    if before := amended or (released[-1] if released else None):
        refuse_amendment(before, deployment, place)
    confirmed = [it for it in known.values() if it.name == deployment.name]
    refuse_unconfirmed(request, before=confirmed[-1] if confirmed else None)
    add_deployment(ledger, deployment)


def refuse_unconfirmed(
    request: Request, *, before: Deployment | None = None, new_ledger: Path | None = None
) -> None:
    """Refuse to release under an agreement that is not confirmed, or to begin a ledger unasked.

    Args:
        request: the holder's request; it may confirm the agreement.
        before: the last confirmed agreement of that name.
        new_ledger: path of the ledger if it does not exist yet.

    Raises:
        NotConfirmedError: the agreement is not confirmed; or no person begins a ledger that may
            release every period.
    """
    unasked = new_ledger if request.begin_after is None and not request.in_person else None
    if request.agree is None or unasked:
        statement = _statement(request, before, new_ledger)
        raise NotConfirmedError(statement, request.deployment, new_ledger=unasked)


def _statement(request: Request, before: Deployment | None, new_ledger: Path | None) -> str:
    """Return the agreement in plain words; guarantees are rounded to the safe side."""
    deployment = request.deployment
    lines = lines_of(
        "agreement",
        "holder",
        agreed=deployment,
        changes=list(changes(before, deployment)) if before else [],
        begin_after=request.begin_after,
        deviation=deployment.count_noise().standard_deviation,
        columns=request.hospital.columns,
        published=request.hospital.published(deployment),
        new_ledger=new_ledger,
    )
    return "\n".join(map(printable, lines))


def changes(before: Deployment, now: Deployment) -> Iterator[str]:
    """Yield the lines that leave an agreement (-) and those that come (+), a line for an entity."""
    old, new = (
        yaml.safe_dump(json.loads(it.agreement()), default_flow_style=None, width=1000).splitlines()
        for it in (before, now)
    )
    return (line for line in difflib.ndiff(old, new) if line[0] in "+-")

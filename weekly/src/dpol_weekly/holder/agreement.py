"""Put an agreement into words, and ask the holder to confirm it.

The guarantee depends on it, and its author decides which parts of a holder's table become public.
So nothing is released before the holder has confirmed it.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator

import yaml

from dpol.core.errors import DataError
from dpol.core.safe_text import printable
from dpol_weekly.deployment import Deployment, refuse_amendment
from dpol_weekly.holder.memory import Memory
from dpol_weekly.holder.settings import Hospital
from dpol_weekly.prose import lines_of


class NotConfirmedError(DataError):
    """The holder has not confirmed an agreement yet.

    Args:
        statement: the agreement in words, to show.
        deployment: the agreement.
    """

    def __init__(self, statement: str, deployment: Deployment) -> None:
        self.statement, self.sha256 = statement, deployment.sha256()
        super().__init__(
            f"nothing was released: the agreement {deployment.name} is not confirmed; read what it"
            " says above, then confirm it, on a terminal or by its whole hash (--agree)"
        )


def refuse_unconfirmed(
    hospital: Hospital, deployment: Deployment, memory: Memory, agree: str | None
) -> None:
    """Refuse an agreement that the holder has not confirmed, or that may not take another's place.

    Args:
        hospital: the holder's file.
        deployment: the agreement.
        memory: what was released; a release under an agreement confirms it.
        agree: hash of the agreement, as confirmation.

    Raises:
        DataError: `agree` is another hash.
        NotConfirmedError: nothing confirms the agreement.
        ConfigError: it has the name of a released one and does not amend it, changes more than an
            amendment may, or changes an entity from a period on that it has released.
    """
    sha256 = deployment.sha256()
    if agree is not None and agree.lower() != sha256:
        raise DataError(
            f"--agree {agree}: is not the hash of the agreement {deployment.name}, all 64 digits of"
            " it; leave it out to read what the agreement says now"
        )
    made = [memory.agreements[it.agreement] for it in memory.reports]
    before = [it for it in made if it.name == deployment.name]
    if sha256 in [it.sha256() for it in before]:
        return
    amended = memory.agreements.get(deployment.amends.agreement) if deployment.amends else None
    if amended or before:
        rows = [(entity, period) for entity, period, _ in memory.rows(deployment.name)]
        place = f"the agreement {deployment.name}"
        refuse_amendment(amended or before[-1], deployment, rows, place)
    if sha256 not in (agree and agree.lower(), hospital.agreed):
        old = amended or (before[-1] if before else None)
        raise NotConfirmedError(_statement(hospital, deployment, old, memory), deployment)


def _statement(
    hospital: Hospital, deployment: Deployment, before: Deployment | None, memory: Memory
) -> str:
    """Return the agreement in plain words; guarantees are rounded to the safe side."""
    lines = lines_of(
        "agreement",
        "holder",
        agreed=deployment,
        changes=list(changes(before, deployment)) if before else [],
        begin_after=memory.begin_after,
        first=not memory.reports,
        deviation=deployment.count_noise().standard_deviation,
        columns=hospital.columns,
        published=hospital.published(deployment),
    )
    return "\n".join(map(printable, lines))


def changes(before: Deployment, now: Deployment) -> Iterator[str]:
    """Yield the lines that leave an agreement (-) and those that come (+), a line for an entity."""
    old, new = (
        yaml.safe_dump(json.loads(it.agreement()), default_flow_style=None, width=1000).splitlines()
        for it in (before, now)
    )
    return (line for line in difflib.ndiff(old, new) if line[0] in "+-")

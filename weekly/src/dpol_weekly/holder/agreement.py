"""Put an agreement into words, and refuse to release before the holder has confirmed it.

The guarantee depends on it, and its author decides which parts of a holder's table become public.
"""

from __future__ import annotations

import difflib
import json

import yaml

from dpol.core.errors import ConfigError, DataError
from dpol_weekly.deployment import Deployment, refuse_amendment
from dpol_weekly.holder.memory import Memory
from dpol_weekly.holder.settings import Hospital
from dpol_weekly.prose import lines_of


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
        ConfigError: nothing confirms the agreement; the text has it in words, and guarantees are
            rounded to the safe side. Or it has the name of a released one and does not amend it,
            changes more than an amendment may, or changes an entity from a period on that it has
            released.
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
    if old := amended or (before[-1] if before else None):
        rows = [(entity, period) for entity, period, _ in memory.rows(deployment.name)]
        refuse_amendment(old, deployment, rows, f"the agreement {deployment.name}")
    if agree is None and sha256 != hospital.agreed:
        plain = [json.loads(it.agreement()) for it in (old, deployment) if it]
        texts = [yaml.safe_dump(it, default_flow_style=None, width=1000) for it in plain]
        changes = difflib.ndiff(texts[0].splitlines(), texts[-1].splitlines())
        words = lines_of(
            "agreement",
            "holder",
            agreed=deployment,
            changes=[line for line in changes if line[0] in "+-"],
            memory=memory,
            columns=hospital.columns,
            published=hospital.published(deployment),
        )
        raise ConfigError("\n".join(words))

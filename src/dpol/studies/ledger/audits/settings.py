"""Settings of the audits."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dpol.core.settings import Settings

MU = 1.0
"""Gaussian-DP parameter of the audited mechanisms: the noise is as large as the change that it
hides, so that neither drowns the other."""


class Audits(Settings):
    """Audits of mechanisms."""

    runs: Annotated[int, Field(ge=100, le=100_000)] = 20_000
    """Runs of a mechanism on each of two adjacent inputs.

    Ten messages about a label count as one run."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    """Joint confidence of all sampled lower bounds."""


Attacked = Literal["noises", "actions"]
"""What an audit attacks: noises on gains and sums, or actions and messages about labels."""
AuditPoint = tuple[Attacked, Audits]
"""All audits of one kind, with the settings that all audits share."""

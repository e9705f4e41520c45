"""Settings of the audits."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dpol.core.settings import Settings
from dpol.privacy.settings import FiniteMu


class Audits(Settings):
    """Audits of every mechanism, and the ledger of what the papers claim."""

    runs: Annotated[int, Field(ge=100, le=100_000)] = 20_000
    """Runs of a mechanism on each of two adjacent inputs; ten messages about a label are one. An
    adversary that reacts plays at most 4,000."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    """Confidence with which all sampled lower bounds hold together."""
    mu: FiniteMu = 1.0
    """Gaussian-DP parameter that the audited mechanisms are calibrated to."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """delta of the claims of L2P and private WMA."""

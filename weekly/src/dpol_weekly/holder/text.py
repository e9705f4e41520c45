"""The result of a release in plain words."""

from __future__ import annotations

from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.release import Release
from dpol_weekly.prose import lines_of


def describe(done: Release, deployment: Deployment) -> list[str]:
    """Return the result line by line; guarantees are rounded to the safe side."""
    return lines_of("done", "holder", done=done, deployment=deployment)

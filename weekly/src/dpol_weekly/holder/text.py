"""The result of a release in plain words."""

from __future__ import annotations

from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.release import Release
from dpol_weekly.prose import lines_of


def describe(done: Release, deployment: Deployment) -> list[str]:
    """Return the result line by line; guarantees are rounded to the safe side.

    None of it depends on a count.
    """
    return lines_of("done", "holder", done=done, deployment=deployment)


def warnings_of(done: Release, deployment: Deployment) -> list[str]:
    """Return what the holder alone should see: late rows, odd counts, and counts that changed."""
    return lines_of("warned", "holder", done=done, deployment=deployment)

"""The result of a release in plain words."""

from __future__ import annotations

from collections import defaultdict

from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.release import Release
from dpol_weekly.prose import lines_of


def describe(done: Release, deployment: Deployment) -> list[str]:
    """Return the result line by line; guarantees are rounded to the safe side.

    None of it depends on a count.
    """
    return lines_of("done", "holder", done=done, deployment=deployment)


def warnings_of(done: Release) -> list[str]:
    """Return what the holder alone should see: what is due and impossible, and odd counts."""
    impossible = defaultdict[str, list[str]](list)
    for (entity, period), why in sorted(done.impossible.items()):
        impossible[why].append(f"{entity} {period}")
    return lines_of("warned", "holder", done=done, impossible=dict(impossible))

"""The result of a release in plain words."""

from __future__ import annotations

from functools import partial

from dpol.core.rounding import rounded_up
from dpol.core.words import counted, printable
from dpol.show.pages import load_template
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.release import Release


def describe(done: Release, deployment: Deployment) -> list[str]:
    """Return the result line by line; guarantees are rounded to the safe side."""
    text = load_template("done.txt.j2", "dpol_weekly.holder").render(
        done=done,
        deployment=deployment,
        shown=lambda path: printable(str(path)),  # A name may hold line ends.
        counted=counted,
        up=partial(rounded_up, digits=4),
    )
    return text.splitlines()

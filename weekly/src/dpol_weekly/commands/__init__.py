"""The weekly commands of `dpol`, in the order of the help."""

from __future__ import annotations

from dpol.core.options import Commands
from dpol_weekly.commands import coordinator, deployment, privatize


def add(commands: Commands) -> None:
    """Add the commands: the entry point `dpol.commands` of this package."""
    for module in (deployment, privatize, coordinator):
        module.add(commands)

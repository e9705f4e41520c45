"""`dpol history`: the releases of a holder."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpol.core.options import Commands, path

_HISTORY = """\
Show in plain words what was released, when, and what it cost, as the ledger knows it. Shows no
count."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "show what was released so far, and what it cost"
    parser = commands.add_parser("history", help=words, description=_HISTORY, allow_abbrev=False)
    words = "the ledger (default: dpol-ledger.sqlite in this folder)"
    file = Path("dpol-ledger.sqlite")
    parser.add_argument("--ledger", type=path, default=file, metavar="FILE", help=words)
    parser.set_defaults(run=_history, failure=2)


def _history(options: argparse.Namespace) -> None:
    from dpol_weekly.holder.history import history

    print("\n".join(history(options.ledger)))

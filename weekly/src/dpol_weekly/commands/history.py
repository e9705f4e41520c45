"""`dpol history`: the releases of a holder."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpol.core.options import Commands, add_answer_options, add_command, answer, path

_HISTORY = """\
Show in plain words what was released, when, and what it cost, as the ledger knows it. Shows no
count. Like every command that opens a ledger, it verifies the hash chain over all of it first."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "show what was released so far, and what it cost"
    parser = add_command(commands, "history", readers="Hospital", words=words, description=_HISTORY)
    words = "the ledger (default: dpol-ledger.sqlite in this folder)"
    file = Path("dpol-ledger.sqlite")
    parser.add_argument("--ledger", type=path, default=file, metavar="FILE", help=words)
    add_answer_options(parser)
    parser.set_defaults(run=_history)


def _history(options: argparse.Namespace) -> None:
    from dpol_weekly.holder.history import history
    from dpol_weekly.prose import lines_of

    found = history(options.ledger)
    answer(options, lines_of("history", "holder", **found), found)

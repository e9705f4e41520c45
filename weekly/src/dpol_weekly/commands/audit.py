"""`dpol audit`: whether this installation adds enough noise."""

from __future__ import annotations

import argparse
import dataclasses
import sys

from dpol.core.errors import DpolError
from dpol.core.options import Commands, add_answer_options, add_command, answer, between

_AUDIT = """\
Test whether this installation adds enough noise. Releases a table of made-up counts with the
installed dpol privatize, in a folder of its own, and compares the noise that it drew with what mu
asks for. Says how small a fault would have been noticed. Takes less than a minute, and touches no
file of yours."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "test whether this installation adds enough noise"
    parser = add_command(commands, "audit", readers="Hospital", words=words, description=_AUDIT)
    words = "the mu of the agreement (default: 0.5)"
    parser.add_argument("--mu", type=between(0.001, 10), default=0.5, metavar="M", help=words)
    add_answer_options(parser)
    parser.set_defaults(run=_audit)


def _audit(options: argparse.Namespace) -> None:
    from dpol_weekly.holder.audit import audit, describe

    found = audit(options.mu)
    facts = dataclasses.asdict(found)
    if not found.failed:
        answer(options, describe(found), facts)
        return
    answer(options, [], facts)
    sys.stdout.flush()
    raise DpolError(
        f"the noise of this installation is not what mu = {found.mu:g} asks for:"
        f" {'; '.join(found.failed)}. Release nothing with it: install"
        " dpol and opendp again, and audit again"
    )

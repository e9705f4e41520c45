"""`dpol publish-entry`: an entry for the public registry of deployments."""

from __future__ import annotations

import argparse

from dpol.core.errors import DpolError
from dpol.core.options import Commands, add_command, path

_REGISTRY = """\
Write an entry for the OpenDP registry of differential-privacy deployments, as YAML. What dpol
cannot know is marked TODO. The registry itself has not checked the entry."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "write an entry for the public registry of deployments from a record"
    parser = add_command(
        commands, "publish-entry", readers="Hospital", words=words, description=_REGISTRY
    )
    words = "a release that dpol privatize wrote, or the record in it"
    parser.add_argument("record", type=path, metavar="RECORD", help=words)
    words = "a new file for the entry (default: standard output)"
    parser.add_argument("--output", type=path, metavar="FILE", help=words)
    parser.set_defaults(run=_registry)


def _registry(options: argparse.Namespace) -> None:
    from dpol.core.files import write_text
    from dpol_weekly.holder.registry import registry_entry

    entry = registry_entry(options.record)
    if options.output is None:
        print(entry, end="")
        return
    if options.output.exists():
        raise DpolError(f"{options.output}: exists already; choose another file with --output")
    write_text(options.output, entry)

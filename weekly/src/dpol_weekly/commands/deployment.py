"""`dpol deployment`: the file that hospitals and a coordinator share, and what it means."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from dpol.core.errors import OutputError
from dpol.core.options import Commands, add_command, path

TEMPLATE = Path(__file__).parents[1] / "deployment.yaml"
"""A file of a deployment with comments, to be filled in."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "begin or check the file that all hospitals of a deployment share"
    parser = add_command(
        commands, "deployment", readers="Coordinator", words=words, description=words
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION")

    words = "write a file with comments, to be filled in"
    new = actions.add_parser("new", help=words, description=words, allow_abbrev=False)
    new.add_argument("file", type=path, metavar="FILE", help="the file to write")
    new.set_defaults(run=_new)

    words = "check a file; show its hash, and what its noise means"
    check = actions.add_parser("check", help=words, description=words, allow_abbrev=False)
    check.add_argument("file", type=path, metavar="FILE", help="the file of the deployment")
    check.set_defaults(run=_check)


def _new(options: argparse.Namespace) -> None:
    from dpol.core.files import write_text

    if options.file.exists():
        raise OutputError(f"{options.file}: exists already; choose another file")
    write_text(options.file, TEMPLATE.read_text(encoding="utf-8"))
    print(f"{options.file}: fill it in, and check it with dpol deployment check {options.file}")


def _check(options: argparse.Namespace) -> None:
    from dpol_weekly.deployment import read_deployment
    from dpol_weekly.prose import lines_of

    deployment = read_deployment(options.file)
    lines = lines_of(
        "checked",
        "commands",
        agreed=deployment,
        least=math.sqrt(deployment.least_budget()),
        deviation=deployment.count_noise().standard_deviation,
        unbound=[name for name, it in deployment.entities.items() if it.key is None],
    )
    print(*lines, sep="\n")

"""`dpol deployment` and `dpol recompute`: an agreement, what it means, and what was released."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpol.core.errors import DataError, OutputError
from dpol.core.options import Commands, add_command, path

TEMPLATE = Path(__file__).parents[1] / "deployment.yaml"
"""A file of a deployment with comments, to be filled in."""
_RECOMPUTE = """\
Recompute what release files cost a person, from their rows and the agreements that you name, and
say it in words. Agreements about the same people add up. Exits with 1 if a budget is passed."""


def add(commands: Commands) -> None:
    """Add the commands."""
    words = "begin or check the file that all hospitals of a deployment share"
    parser = add_command(
        commands, "deployment", readers="Coordinator", words=words, description=words
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    for action, words, run in (
        ("new", "write a file with comments, to be filled in", _new),
        ("check", "check a file; show its hash, and what its noise means", _check),
    ):
        one = actions.add_parser(action, help=words, description=words, allow_abbrev=False)
        one.add_argument("file", type=path, metavar="FILE", help="the file of the deployment")
        one.set_defaults(run=run)

    words = "recompute what release files cost a person, and say it in words"
    parser = add_command(
        commands, "recompute", readers="Hospital", words=words, description=_RECOMPUTE
    )
    parser.add_argument("files", type=path, nargs="+", metavar="RELEASE", help="release files")
    words = "the agreement, and each that it amends (the option may be given several times)"
    parser.add_argument(
        "--deployment", type=path, action="append", required=True, metavar="FILE", help=words
    )
    parser.set_defaults(run=_recompute)


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
    print(*lines_of("checked", "commands", agreed=deployment), sep="\n")


def _recompute(options: argparse.Namespace) -> None:
    from dpol_weekly.deployment import read_deployment
    from dpol_weekly.prose import lines_of
    from dpol_weekly.records import recompute
    from dpol_weekly.released.read import read_release

    agreed = {it.sha256(): it for it in map(read_deployment, options.deployment)}
    releases = [(str(file), read_release(file).facts) for file in options.files]
    plain = {sha256: it.model_dump(mode="json") for sha256, it in agreed.items()}
    try:
        found = recompute(releases, plain)
    except ValueError as error:
        raise DataError(f"{error}; ask for the release again, and do not rely on it") from None
    pairs = {it["agreement"]: (agreed[it["agreement"]], it) for it in found}
    print(*lines_of("recomputed", "commands", found=found, agreed=pairs), sep="\n")

"""`dpol recompute`: what was released, and what it costs a person."""

from __future__ import annotations

import argparse

from dpol.core.errors import DataError
from dpol.core.options import Commands, add_answer_options, add_command, answer, path

_RECOMPUTE = """\
Recompute what release files cost a person, from their rows and the agreements that you name, and
say it in words. Agreements about the same people add up. Exits with 1 if a budget is passed."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "recompute what release files cost a person, and say it in words"
    parser = add_command(
        commands, "recompute", readers="Hospital", words=words, description=_RECOMPUTE
    )
    words = "release files, all of the same people together"
    parser.add_argument("files", type=path, nargs="+", metavar="RELEASE", help=words)
    words = "the agreement, and each that it amends (the option may be given several times)"
    parser.add_argument(
        "--deployment", type=path, action="append", required=True, metavar="FILE", help=words
    )
    add_answer_options(parser)
    parser.set_defaults(run=_recompute)


def _recompute(options: argparse.Namespace) -> None:
    from dpol.privacy.guarantee import ONE_PERSON, UNIT
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
    lines = lines_of(
        "recomputed",
        "commands",
        found=found,
        agreed={it["agreement"]: (agreed[it["agreement"]], it) for it in found},
        unit=UNIT.replace("round", "period"),
        adjacency=ONE_PERSON.replace("round", "period"),
    )
    answer(options, lines, {"records": found})

"""`dpol recompute`: what release files guarantee, recomputed from them and the agreement."""

from __future__ import annotations

import argparse
import dataclasses

from dpol.core.errors import DataError
from dpol.core.options import Commands, add_answer_options, add_command, answer, path

_RECOMPUTE = """\
Recompute what release files guarantee, from their rows, their statements and the agreement that you
name. Anybody can: nothing secret is read. Rows that stand in several files of one ledger count
once. Exits with 1 if anything else follows than the files state, or if the budget is passed."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "recompute what release files guarantee"
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
    from dpol.core.rounding import rounded_up
    from dpol.core.words import counted
    from dpol_weekly.deployment import read_deployment
    from dpol_weekly.records import recompute
    from dpol_weekly.released.read import read_release

    agreed = {it.sha256(): it.terms() for it in map(read_deployment, options.deployment)}
    releases = [(str(file), read_release(file).facts) for file in options.files]
    try:
        found = recompute(releases, agreed)
    except ValueError as error:
        raise DataError(f"{error}; ask for the release again, and do not rely on it") from None
    lines = [
        f"{proof.file}: {counted(proof.rows, 'row')}, mu = {rounded_up(proof.mu, 4)} for a person"
        f" in one period; over these files at most mu = {rounded_up(proof.stay_mu, 4)} for a stay"
        f" of {counted(proof.stay, 'period')}, within budget_mu {proof.budget:g}"
        for proof in found
    ]
    lines.append("Noise, sums and ceiling follow from the files and the agreement, as stated.")
    answer(options, lines, {"records": [dataclasses.asdict(proof) for proof in found]})

"""`dpol privatize`: noise for a holder's counts."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import TYPE_CHECKING

from dpol.core.errors import DpolError
from dpol.core.options import Commands, add_command, date, decimal, drop_output, given, path, show

if TYPE_CHECKING:
    from dpol.privacy.noise import NoiseSampler
    from dpol_weekly.holder.release import Release
    from dpol_weekly.holder.request import Request

_PRIVATIZE = """\
Add privacy noise to the counts in a CSV table, as the file of a deployment says. Writes a table of
noisy counts and a record of the guarantee; rows that are new are added. Run it where the raw counts
are kept; share only the output and its record. The noise is exact and cannot be repeated (it needs
dpol's extra `secure`). Noisy counts may be negative: they are not cut off. Nothing is released
unless every row is good; no message shows a count. A ledger, one file for all your outputs,
remembers every release, so that no period is released twice unnoticed."""

# No first run needs these: the message that asks for one names it.
_ANSWERS = {
    "gap": "nobody counted in the many periods between a row and the last one released",
    "over-capacity": "counts above their capacity are right, however many there are",
    "no-final-newline": "the table is complete although its last line has no line end",
    "write-again": "the output or its record is gone, and the ledger is the newest there is: write"
    " them again",
}


def add(commands: Commands) -> None:
    """Add the command."""
    words = "add noise to your own counts before anyone else sees them"
    parser = add_command(
        commands, "privatize", readers="Hospital", words=words, description=_PRIVATIZE
    )
    add = parser.add_argument
    add("table", type=path, metavar="TABLE", help="the raw counts: CSV in UTF-8 with a header")
    add("--output", type=path, required=True, metavar="CSV", help="where noisy counts are written")
    words = "the file that all hospitals share, see dpol deployment new"
    add("--deployment", type=path, required=True, metavar="FILE", help=words)
    words = "remembers all releases of all outputs (default: dpol-ledger.sqlite next to the output)"
    add("--ledger", type=path, metavar="FILE", help=words)
    words = "release the rows of this entity only (default: all of the table)"
    add("--entity-id", metavar="ID", help=words)
    words = "release this period again, after its count was corrected: spends its privacy again"
    add("--correct", type=date, action="append", default=[], metavar="PERIOD", help=words)
    words = "confirm the agreement by its hash, which the first run shows with its meaning"
    add("--agree", type=given, metavar="HASH", help=words)
    words = "confirm a count sensitivity below 1"
    add("--agree-sensitivity", type=decimal, metavar="S", help=words)
    words = (
        "the newest ledger is lost: go on from what the coordinator has, as dpol export wrote it"
    )
    add("--continue-from", type=path, metavar="CSV", help=words)
    group = parser.add_argument_group("if you are asked")
    for name, words in _ANSWERS.items():
        group.add_argument(f"--{name}", action="store_true", help=words)
    parser.set_defaults(run=_privatize)


def _privatize(options: argparse.Namespace) -> None:
    from dpol.privacy.noise import SecureNoise
    from dpol_weekly.deployment import read_deployment
    from dpol_weekly.holder.request import Request
    from dpol_weekly.holder.text import describe

    deployment = read_deployment(options.deployment)
    request = Request(
        table=options.table,
        output=options.output,
        deployment=deployment,
        entity=options.entity_id,
        ledger=options.ledger,
        correct=frozenset(map(str, options.correct)),
        agree=options.agree,
        agree_sensitivity=options.agree_sensitivity,
        gap=options.gap,
        over_capacity=options.over_capacity,
        no_final_newline=options.no_final_newline,
        write_again=options.write_again,
        continue_from=options.continue_from,
    )
    try:
        done = _released(request, SecureNoise())
    except OSError as error:
        place = error.filename or options.output
        raise DpolError(f"{place}: {error.strerror or error}; choose another path") from None
    written = f"the rows are released and written to {done.output}"
    try:
        show("\n".join(describe(done, deployment)))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(written) from None
    except (OSError, ValueError) as error:
        drop_output()
        raise DpolError(f"{written}; no more can be shown ({_why(error)})") from None


def _released(request: Request, sampler: NoiseSampler) -> Release:
    """Release, and before the first release under an agreement show it and have it confirmed."""
    from dpol_weekly.holder.agreement import NotConfirmedError
    from dpol_weekly.holder.release import release

    try:
        return release(dataclasses.replace(request, agree=None), sampler)
    except NotConfirmedError as question:
        try:
            show(question.statement)
            agree = request.agree or _answer(question.sha256)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("nothing was released") from None
        except (OSError, ValueError) as error:
            drop_output()
            raise DpolError(
                f"nothing was released: the agreement cannot be shown ({_why(error)}); run again"
                " where it can be read"
            ) from None
        if agree is None:
            raise
    return release(dataclasses.replace(request, agree=agree), sampler)


def _answer(sha256: str) -> str | None:
    """The hash if the holder agrees on a terminal; None where there is none to ask on."""
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    print("Type yes to agree, and anything else to stop: ", end="", flush=True)
    if sys.stdin.readline().strip().lower() == "yes":
        return sha256
    raise DpolError("nothing was released: you did not agree")


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)

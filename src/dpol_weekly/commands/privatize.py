"""`dpol privatize`: noise for a holder's counts."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import sys
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dpol.cli.options import (
    Commands,
    add_delta,
    between,
    date,
    decimal,
    drop_output,
    given,
    path,
    show,
)
from dpol.core.errors import DpolError

if TYPE_CHECKING:
    from dpol.privacy.noise import NoiseSampler
    from dpol_weekly.holder.release import Release
    from dpol_weekly.holder.request import Request

_PRIVATIZE = """\
Add privacy noise to the counts in a CSV table. Writes a new table and a record of the guarantee.
Run it where the raw counts are kept; share only the output and its record. The noise is exact and
cannot be repeated (it needs dpol's extra `secure`). Noisy counts may be negative: they are not cut
off. Nothing is released unless every row is good; no message shows a count. A ledger, one file for
all your outputs, remembers every release, so that no period is released twice unnoticed."""

_USAGE = """\
dpol privatize TABLE --output CSV --deployment FILE [--entity-id ID] [options]
       dpol privatize TABLE --output CSV --mu MU --entity COLUMN --period COLUMN
                      --count COLUMN [options]"""

_COLUMNS = {
    "entity": "column of the entity, such as a hospital",
    "period": "column of the date, such as 2021-01-31",
    "count": "column of the number of people counted, such as 12 or 3.4",
    "capacity": "column of the capacity (beds), which is public: the noisy share is written too",
}
# What the file of a deployment says, with the default of each option.
_AGREED: dict[str, Any] = {
    **dict.fromkeys(("mu", *_COLUMNS)),
    **{"count_sensitivity": Decimal(1), "append": False},
    **{"memory": (Decimal(0), Decimal(0)), "unit_weeks": 1, "chain_periods": 520},
}
_NEEDED = "mu", "entity", "period", "count"
# No first run needs these: the message that asks for one names it.
_ANSWERS = {
    "again": "like --append, also for periods that were released before in any output; spends their"
    " privacy again",
    "same-entity": "a name that differs from a released one only in its spelling is the same"
    " entity",
    "new-entity": "such a name belongs to another entity",
    "change-noise": "use another mu or count sensitivity than in the last release",
    "gap": "nobody counted in the many periods between a row and the last one released",
    "over-capacity": "counts above their capacity are right, however many there are",
    "no-final-newline": "the table is complete although its last line has no line end",
    "forget-ledger": "the ledger of the output is lost: keep the rows of this output, the newest"
    " that there is, and forget all others",
    "write-again": "the output or its record is gone, and the ledger is the newest there is: write"
    " them again",
}


def add(commands: Commands) -> None:
    """Add the command."""
    words = "add noise to your own counts before anyone else sees them"
    parser = commands.add_parser(
        "privatize", help=words, usage=_USAGE, description=_PRIVATIZE, allow_abbrev=False
    )
    add = parser.add_argument
    add("table", type=path, metavar="TABLE", help="the raw counts: CSV in UTF-8 with a header")
    add("--output", type=path, required=True, metavar="CSV", help="where noisy counts are written")
    words = "remembers all releases of all outputs (default: dpol-ledger.sqlite next to the output)"
    add("--ledger", type=path, metavar="FILE", help=words)
    add_delta(parser)
    _add_deployment(parser.add_argument_group("for a deployment"))
    words = f"A deployment's file would set these. Required: {_named(_NEEDED)}."
    _add_agreed(parser.add_argument_group("without a deployment", words))

    group = parser.add_argument_group("if you are asked")
    words = "a period is of N days, and those of one entity are N days apart or more (default: 7)"
    days = between(1, 366, whole=True)
    group.add_argument("--period-days", type=days, metavar="N", help=words)
    names = group.add_mutually_exclusive_group()
    for name, words in _ANSWERS.items():
        place = names if name.endswith("-entity") else group
        place.add_argument(f"--{name}", action="store_true", help=words)
    parser.set_defaults(run=functools.partial(_privatize, parser), failure=2)


def _add_agreed(group: argparse._ArgumentGroup) -> None:
    add = functools.partial(group.add_argument, default=argparse.SUPPRESS)  # absent if not given
    add("--mu", type=decimal, help="privacy of one person in one period")
    for name, words in _COLUMNS.items():
        add(f"--{name}", type=given, metavar="COLUMN", help=words)
    words = "largest change of one count by one person (default: 1)"
    add("--count-sensitivity", type=decimal, metavar="S", help=words)
    add("--append", action="store_true", help="add further periods to the output")
    words = (
        "noise with memory, which later counts partly cancel: 'designed' (from mu and capacities)"
        " or two numbers A,B between -1 and 1 (--memory=-0.1,0.6 for a negative one); default: none"
    )
    add("--memory", type=_memory, metavar="MEMORY", help=words)
    words = "protect a person who is counted in up to W periods in a row (default: 1)"
    whole = functools.partial(between, whole=True)
    add("--unit-weeks", type=whole(1, 52), metavar="W", help=words)
    words = "with memory: begin a new chain of noise after T periods (default: 520)"
    add("--chain-periods", type=whole(1, 2000), metavar="T", help=words)


def _add_deployment(group: argparse._ArgumentGroup) -> None:
    words = "the file that all hospitals share; releases new rows and skips released ones"
    group.add_argument("--deployment", type=path, metavar="FILE", help=words)
    words = "release the rows of this entity only (default: all of the table)"
    group.add_argument("--entity-id", metavar="ID", help=words)
    words = "release this period again, after its count was corrected: spends its privacy again"
    add = functools.partial(group.add_argument, type=date, action="append", default=[])
    add("--correct", metavar="PERIOD", help=words)
    words = "confirm the agreement by its hash, which the first run shows with its meaning"
    group.add_argument("--agree", type=given, metavar="HASH", help=words)
    words = "confirm a count sensitivity below 1"
    group.add_argument("--agree-sensitivity", type=decimal, metavar="S", help=words)
    words = (
        "the newest ledger is lost: go on from what the coordinator has, as dpol export wrote it"
    )
    group.add_argument("--continue-from", type=path, metavar="CSV", help=words)


def _privatize(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    from dpol.privacy.noise import SecureNoise
    from dpol_weekly.holder.text import describe

    if not options.deployment and (missing := [it for it in _NEEDED if it not in options]):
        parser.error(f"needed without --deployment: {_named(missing)}")
    try:
        done = _released(_request(options), SecureNoise())
    except OSError as error:
        place = error.filename or options.output
        raise DpolError(f"{place}: {error.strerror or error}; choose another path") from None
    written = f"the rows are released and written to {done.output}"
    try:
        show("\n".join(describe(done, options.delta)))
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


def _request(options: argparse.Namespace) -> Request:
    """The request that the options or the file of a deployment describe."""
    from dpol_weekly.deployment import read_deployment
    from dpol_weekly.holder.request import Choices, CountColumns, Request
    from dpol_weekly.memory import Memory
    from dpol_weekly.noise import CountNoise

    found = vars(options)
    if options.deployment:
        if told := [name for name in _AGREED if name in found]:
            raise DpolError(f"{_named(told)}: {options.deployment} says that; leave it out")
        deployment = read_deployment(options.deployment)
        columns, noise = deployment.count_columns(), deployment.count_noise()
        memory = deployment.memory()
        agreed = deployment.agreed(options.entity_id, map(str, options.correct))
    elif (
        options.entity_id
        or options.correct
        or options.agree
        or options.agree_sensitivity
        or options.continue_from
    ):
        raise DpolError(
            "--entity-id, --correct, --agree and --continue-from need a deployment; give its file"
            " with --deployment"
        )
    else:
        found = _AGREED | found
        columns = CountColumns(*(found[name] for name in _COLUMNS))
        noise = CountNoise(found["mu"], found["count_sensitivity"])
        memory, agreed = None, None
        if found["memory"] != (0, 0) or found["unit_weeks"] > 1:
            memory = Memory(found["memory"], found["unit_weeks"], found["chain_periods"])
    answers: dict[str, Any] = {it.name: found.get(it.name) for it in dataclasses.fields(Choices)}
    answers |= {"append": found.get("append", False)}
    return Request(
        table=options.table,
        output=options.output,
        columns=columns,
        noise=noise,
        ledger=options.ledger,
        choices=Choices(**answers),
        memory=memory,
        agreed=agreed,
        agree=options.agree,
        agree_sensitivity=options.agree_sensitivity,
    )


def _named(options: Iterable[str]) -> str:
    return ", ".join(f"--{name.replace('_', '-')}" for name in options)


def _memory(text: str) -> tuple[Decimal, Decimal] | None:
    """The numbers (a, b) of a memory; None if they are to be designed."""
    if text == "designed":
        return None
    numbers = ["0", "0"] if text == "none" else text.split(",")
    if len(numbers) != 2:
        wrong = f"must be designed, none, or two numbers such as 0.2,0.6, got {text!r}"
        raise argparse.ArgumentTypeError(wrong)
    return decimal(numbers[0]), decimal(numbers[1])

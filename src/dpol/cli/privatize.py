"""`dpol privatize`: noise for a holder's counts."""

from __future__ import annotations

import argparse
import dataclasses
import functools
from decimal import Decimal
from pathlib import Path

from dpol.cli.options import Commands, add_delta, between, decimal
from dpol.core.errors import DpolError

_PRIVATIZE = """\
Add privacy noise to the counts in a CSV table. Writes a new table and a record of the guarantee.
Run it where the raw counts are kept; share only the output and its record. The noise is exact and
cannot be repeated (it needs dpol's extra `secure`). Noisy counts may be negative: they are not cut
off. Nothing is released unless every row is good; no message shows a count. A ledger, one file for
all your outputs, remembers every release, so that no period is released twice unnoticed."""

_COLUMNS = {
    "entity": "whose count it is, such as a hospital",
    "period": "when, a date such as 2021-01-31",
    "count": "people counted, such as 12 or 3.4",
    "capacity": "what the count is a share of (beds), public: the noisy share is written too",
}
# No first run needs these: the message that asks for one names it.
_ANSWERS = {
    "again": "as --append, also for periods that were released before, in any output: spends their"
    " privacy again",
    "same-entity": "a name that differs from a released one in its spelling only is the same"
    " entity",
    "new-entity": "such a name is that of another entity",
    "change-noise": "use another mu or count sensitivity than in the last release",
    "over-capacity": "counts above their capacity are right, however many there are",
    "no-final-newline": "the table is complete although its last line has no line end",
    "forget-ledger": "the ledger that knew the output is lost: keep the rows of this output, forget"
    " all others",
}


def add(commands: Commands) -> None:
    """Add the command."""
    words = "add noise to your own counts before anybody sees them"
    parser = commands.add_parser(
        "privatize", help=words, description=_PRIVATIZE, allow_abbrev=False
    )
    add = parser.add_argument
    add("table", type=Path, metavar="TABLE", help="the raw counts: CSV in UTF-8 with a header")
    add("--output", type=Path, required=True, metavar="CSV", help="where noisy counts are written")
    add("--mu", type=decimal, required=True, help="privacy of one person in one period")
    for name, words in _COLUMNS.items():
        add(f"--{name}", required=name != "capacity", metavar="COLUMN", help=words)
    words = "how far one person can move one count (default: 1)"
    add("--count-sensitivity", type=decimal, default=Decimal(1), metavar="S", help=words)
    words = "remembers all releases of all outputs (default: dpol-ledger.sqlite beside the output)"
    add("--ledger", type=Path, metavar="FILE", help=words)
    add("--append", action="store_true", help="add further periods to the output")
    _add_memory(parser)
    add_delta(parser)

    group = parser.add_argument_group("if you are asked")
    words = "periods of one entity are at least N days apart (default: 7)"
    days = between(1, 366, whole=True)
    group.add_argument("--period-days", type=days, default=7, metavar="N", help=words)
    names = group.add_mutually_exclusive_group()
    for name, words in _ANSWERS.items():
        place = names if name.endswith("-entity") else group
        place.add_argument(f"--{name}", action="store_true", help=words)
    parser.set_defaults(run=_privatize, failure=2)


def _add_memory(parser: argparse.ArgumentParser) -> None:
    words = (
        "noise that later counts take back in part: designed from mu and capacities, or two numbers"
        " A,B between -1 and 1 (write --memory=-0.1,0.6 for a negative one); default: none"
    )
    parser.add_argument("--memory", type=_memory, default=(0, 0), metavar="MEMORY", help=words)
    words = "protect a person who is counted in up to W periods in a row (default: 1)"
    whole = functools.partial(between, whole=True)
    parser.add_argument("--unit-weeks", type=whole(1, 52), default=1, metavar="W", help=words)
    words = "with memory: begin a new chain of noise after T periods (default: 520)"
    most = whole(1, 2000)
    parser.add_argument("--chain-periods", type=most, default=520, metavar="T", help=words)


def _privatize(options: argparse.Namespace) -> None:
    from dpol.privacy.noise import SecureNoise
    from dpol.release.memory import Memory
    from dpol.release.noise import CountNoise
    from dpol.release.release import release
    from dpol.release.request import Choices, CountColumns, Request
    from dpol.release.text import describe

    given, memory = vars(options), None
    if options.memory != (0, 0) or options.unit_weeks > 1:
        memory = Memory(options.memory, options.unit_weeks, options.chain_periods)
    request = Request(
        options.table,
        options.output,
        CountColumns(*(given[name] for name in _COLUMNS)),
        CountNoise(options.mu, options.count_sensitivity),
        options.ledger,
        Choices(**{field.name: given[field.name] for field in dataclasses.fields(Choices)}),
        memory,
    )
    try:
        done = release(request, SecureNoise())
    except OSError as error:
        raise DpolError(f"{error.filename}: {error.strerror}; choose another path") from None
    try:
        print("\n".join(describe(done, options.delta)), flush=True)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"the rows are released and written to {done.output}") from None


def _memory(text: str) -> tuple[Decimal, Decimal] | None:
    """The numbers (a, b) of a memory; None if they are to be designed."""
    if text == "designed":
        return None
    numbers = ["0", "0"] if text == "none" else text.split(",")
    if len(numbers) != 2:
        wrong = f"must be designed, none, or two numbers such as 0.2,0.6, got {text!r}"
        raise argparse.ArgumentTypeError(wrong)
    return decimal(numbers[0]), decimal(numbers[1])

"""The command `dpol`."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import os
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import NoReturn

from dpol import __version__
from dpol.core.errors import DpolError
from dpol.show.words import printable

# What a command needs is imported when it runs: Ctrl-C ends in one line from the first moment on.

_PRIVATIZE = """\
Add privacy noise to the counts in a CSV table. Writes a new table and a record of the guarantee.
Run it where the raw counts are kept; share only the output and its record. The noise is exact and
cannot be repeated (it needs dpol's extra `secure`). Noisy counts may be negative: they are not cut
off. Nothing is released unless every row is good; no message shows a count. A ledger, one file for
all your outputs, remembers every release, so that no period is released twice unnoticed."""

_ACCOUNT = """\
What a Gaussian-DP parameter mu, or a pair (epsilon, delta), guarantees to one person."""

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


class _Parser(argparse.ArgumentParser):
    """Wrong arguments end with one line on stderr and exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {printable(message)}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 0, or 1 or 2 after a mistake that the user can fix.

    2 for wrong arguments, and always for `privatize` and `account`, with one line on stderr. 130
    after Ctrl-C.
    """
    try:
        options = _parser().parse_args(arguments)
        options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Who reads the output has read enough. What is still to be flushed goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except DpolError as error:
        text = str(error)
        print(f"error: {printable(text) if options.failure == 2 else text}", file=sys.stderr)
        return int(options.failure)
    except KeyboardInterrupt as stop:
        said = str(stop) or "run the same command again to go on"
        print(f"\nstopped: {printable(said)}", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="dpol",
        description="Differentially private online learning. Experiments are run by snakemake.",
    )
    parser.add_argument("--version", action="version", version=f"dpol {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    add = functools.partial(commands.add_parser, allow_abbrev=False)
    _add_config(add("config", help="check configs and write what is generated of them"))
    words = "add noise to your own counts before anybody sees them"
    _add_privatize(add("privatize", help=words, description=_PRIVATIZE))
    words = "what mu or (epsilon, delta) guarantees, over one week or several"
    _add_account(add("account", help=words, description=_ACCOUNT))
    return parser


def _add_config(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    words = "Check config files: every key and value. Tables of data are not opened."
    check = actions.add_parser("check", help="check config files", description=words)
    check.add_argument("files", nargs="+", type=Path, metavar="FILE")
    check.set_defaults(run=_check, failure=1)

    words = "write what is generated of configs: files in a folder, a page in the manual"
    write = actions.add_parser("write", help=words)
    write.add_argument("folder", type=Path, nargs="?", default=Path("config"), metavar="FOLDER")
    write.set_defaults(run=_write, failure=1)


def _add_privatize(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("table", type=Path, metavar="TABLE", help="the raw counts: CSV in UTF-8 with a header")
    add("--output", type=Path, required=True, metavar="CSV", help="where noisy counts are written")
    add("--mu", type=_decimal, required=True, help="privacy of one person in one period")
    for name, words in _COLUMNS.items():
        add(f"--{name}", required=name != "capacity", metavar="COLUMN", help=words)
    words = "how far one person can move one count (default: 1)"
    add("--count-sensitivity", type=_decimal, default=Decimal(1), metavar="S", help=words)
    words = "remembers all releases of all outputs (default: dpol-ledger.sqlite beside the output)"
    add("--ledger", type=Path, metavar="FILE", help=words)
    add("--append", action="store_true", help="add further periods to the output")
    _add_memory(parser)
    _add_delta(parser)

    group = parser.add_argument_group("if you are asked")
    words = "periods of one entity are at least N days apart (default: 7)"
    days = _between(1, 366, whole=True)
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
    whole = functools.partial(_between, whole=True)
    parser.add_argument("--unit-weeks", type=whole(1, 52), default=1, metavar="W", help=words)
    words = "with memory: begin a new chain of noise after T periods (default: 520)"
    most = whole(1, 2000)
    parser.add_argument("--chain-periods", type=most, default=520, metavar="T", help=words)


def _add_account(parser: argparse.ArgumentParser) -> None:
    given = parser.add_mutually_exclusive_group(required=True)
    words = "Gaussian-DP parameter of the unit; several: releases about the same weeks"
    given.add_argument("--mu", type=_between(1e-6, 1e3), nargs="+", help=words)
    words = "epsilon of the unit, at --delta"
    given.add_argument("--epsilon", type=_between(1e-6, 1e6), help=words)
    words = "numbers of weeks in which a person is counted (default: 1 2 4 8 13 52)"
    weeks, usual = _between(1, 999_999, whole=True), [1, 2, 4, 8, 13, 52]
    parser.add_argument("--weeks", type=weeks, nargs="+", default=usual, metavar="W", help=words)
    words = "the unit: a person who is counted in up to W weeks in a row (default: 1)"
    parser.add_argument("--unit-weeks", type=weeks, default=1, metavar="W", help=words)
    words = "of noise with memory: both between -1 and 1 (default: independent noise)"
    memory = _between(-0.999999, 0.999999)
    parser.add_argument("--memory", type=memory, nargs=2, metavar=("A", "B"), help=words)
    _add_delta(parser)
    parser.set_defaults(run=_account, failure=2)


def _add_delta(parser: argparse.ArgumentParser) -> None:
    words = "delta at which epsilon is given (default: 1e-6)"
    parser.add_argument("--delta", type=_between(1e-100, 0.999), default=1e-6, help=words)


def _check(options: argparse.Namespace) -> None:
    from dpol.config.experiment import load_experiment

    for file in options.files:
        experiment = load_experiment(file)
        count = len(list(experiment.jobs()))
        print(f"{file}: good (run {experiment.config.run}, {count} jobs of algorithms)")


def _write(options: argparse.Namespace) -> None:
    from dpol.config.docs import generated
    from dpol.core.files import write_text

    for name, text in generated(options.folder).items():
        write_text(options.folder / name, text)


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


def _account(options: argparse.Namespace) -> None:
    from dpol.core.rounding import rounded_down
    from dpol.privacy.account import describe_account
    from dpol.privacy.gaussian_dp import compose, mu_of_epsilon

    delta = options.delta
    if options.mu:
        mu = compose(options.mu)
    else:
        # What is printed is what the user goes on with, so all numbers follow from it.
        mu = float(rounded_down(mu_of_epsilon(options.epsilon, delta), 4))
    memory = options.memory and tuple(options.memory)
    try:
        print(describe_account(mu, delta, options.weeks, options.unit_weeks, memory))
    except ValueError as error:  # a memory that does not cover so many weeks
        raise DpolError(f"{error}; take another --memory, or one week only") from None


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None


def _memory(text: str) -> tuple[Decimal, Decimal] | None:
    """The numbers (a, b) of a memory; None if they are to be designed."""
    if text == "designed":
        return None
    numbers = ["0", "0"] if text == "none" else text.split(",")
    if len(numbers) != 2:
        wrong = f"must be designed, none, or two numbers such as 0.2,0.6, got {text!r}"
        raise argparse.ArgumentTypeError(wrong)
    return _decimal(numbers[0]), _decimal(numbers[1])


def _between(low: float, high: float, *, whole: bool = False) -> Callable[[str], float]:
    """A reader of numbers that lie in a range."""

    def number(text: str) -> float:
        value = _decimal(text)
        # As a float: 1e-100 in decimals is not the float nearest to it.
        inside = value.is_finite() and low <= float(value) <= high
        if not inside or (whole and value % 1):
            kind = "be a whole number" if whole else "lie"
            wrong = f"must {kind} from {low:g} to {high:g}, got {text!r}"
            raise argparse.ArgumentTypeError(wrong)
        return int(value) if whole else float(value)

    return number

"""The command dpol, with a module for each group of commands, and what these share."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from dpol import __version__
from dpol.core.errors import ConfigError, DpolError, UsageError, missing
from dpol.core.words import nearest, printable

# Commands import what takes time when they run, so Ctrl-C gives one line from the start.

_COMMANDS = "pipeline", "league", "config", "extensions", "account"
"""Modules of this package in the order of the help; the function `add` of each adds commands."""


class _Parser(argparse.ArgumentParser):
    """A parser that reports wrong arguments in one line on stderr, with exit code 2."""

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            wrong = f"{value!r} is unknown{nearest(value, map(str, action.choices))}"
            raise argparse.ArgumentError(action, wrong)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {printable(message)}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code.

    The code is 0 on success, 2 after invalid usage, 1 after another mistake that the user can fix
    (files, data, network), and 130 after Ctrl-C. A mistake is reported in one line on stderr, and
    the mistakes in a config in one line each.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal without μ or ü shows an escape code, rather than an error after the work.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        parser = parser_of_commands()
        options = parser.parse_args(arguments)
        if not options.run:
            parser.print_help()
            return 0
        code = options.run(options)
        if sys.stdout is not None:  # None: closed
            sys.stdout.flush()
        return int(code or 0)
    except BrokenPipeError:
        # The reader of the output has closed it; drop the rest.
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except DpolError as error:
        # Only errors in settings and options have several lines.
        several = isinstance(error, (ConfigError, UsageError))
        lines = str(error).expandtabs(1).split("\n") if several else [error]
        print("error:", "\n".join(printable(str(line)) for line in lines), file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except ModuleNotFoundError as error:
        if not (remedy := missing(error)):
            raise
        print(f"error: {remedy}", file=sys.stderr)
        return 1
    except OSError as error:
        place = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        print(f"error: {printable(place)}{error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as stop:
        said = str(stop) or "run the same command again to continue"
        print(f"\nstopped: {printable(said)}", file=sys.stderr)
        return 130
    return 0


def parser_of_commands() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = _Parser(
        prog="dpol",
        description="Differentially private online learning: experiments on real data.",
        usage="dpol [-h] [--version] COMMAND ...",
    )
    parser.add_argument("--version", action="version", version=f"dpol {__version__}")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(prog="dpol", metavar="COMMAND", title="commands")
    for name in _COMMANDS:
        import_module(f"dpol.cli.{name}").add(commands)
    return parser


# ---- commands and options ------------------------------------------------------------------------

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""The parser's object to which a module adds its commands."""


def add_command(
    commands: Commands,
    name: str,
    *,
    words: str,
    description: str = "",
    example: str = "",
    **more: Any,
) -> argparse.ArgumentParser:
    """Add a command, or an action of one.

    Args:
        commands: the object to which it is added.
        name: what users type.
        words: its line in the help.
        description: the text above its options; by default the words.
        example: a whole command, below its options.
        more: options of `argparse.ArgumentParser`.
    """
    more |= {"description": description or words, "epilog": example and f"Example: {example}"}
    return commands.add_parser(name, help=words, allow_abbrev=False, **more)


def given(text: str) -> str:
    """Parse a text that is not empty."""
    if not text.strip():
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def path(text: str) -> Path:
    """Parse a path; an empty one, which would mean this folder, is refused."""
    return Path(given(text))


def between(low: float, high: float, *, whole: bool = False) -> Callable[[str], float]:
    """Return a parser of numbers in a range; whole numbers become int."""

    def inside(text: str) -> float:
        try:
            value = Decimal(text)
        except InvalidOperation:
            raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None
        # Compared as a float, since the float nearest to a limit like 1e-100 is not equal to it.
        good = value.is_finite() and low <= float(value) <= high
        if not good or (whole and value % 1):
            kind = "be a whole number" if whole else "lie"
            wrong = f"must {kind} from {low:g} to {high:g}, got {text!r}"
            raise argparse.ArgumentTypeError(wrong)
        return float(value) if value % 1 else int(value)

    return inside

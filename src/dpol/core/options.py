"""Command-line options: adding commands, parsing values, and printing answers."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TypeAlias

from dpol.core.safe_text import printable

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


def add_answer_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `answer` reads."""
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--json", action="store_true", help="print one JSON object instead")
    instead.add_argument("--quiet", action="store_true", help="print errors only")


def answer(options: argparse.Namespace, lines: Iterable[str], facts: Mapping[str, Any]) -> None:
    """Print a command's answer: as text, as a JSON object (--json), or not at all (--quiet)."""
    if options.json:
        print(json.dumps(facts, indent=2, allow_nan=False, default=str))
    elif not options.quiet:
        for line in lines:
            print(printable(line))


def drop_output() -> None:
    """Discard whatever is still to be written to the standard output."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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

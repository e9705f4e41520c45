"""The help of every command has an example that works."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pytest

from dpol import cli


def every_parser(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of all commands, and of their actions."""
    kinds = (it.choices for it in parser._actions if isinstance(it, argparse._SubParsersAction))
    for one in (one for choices in kinds for one in choices.values()):
        yield from (one, *every_parser(one))


@pytest.mark.parametrize(
    "parser", [*every_parser(cli.parser_of_commands())], ids=lambda parser: parser.prog
)
def test_every_help_has_an_example_that_is_understood(parser: argparse.ArgumentParser) -> None:
    assert parser.epilog.startswith(f"Example: {parser.prog}")
    _, *words = parser.epilog.removeprefix("Example: ").split()
    cli.parser_of_commands().parse_args(words)
    assert parser.epilog.split()[-1] in parser.format_help()

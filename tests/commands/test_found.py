"""Commands are found in this package and in others, and their help has examples."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint, distribution
from types import SimpleNamespace

import pytest

from dpol import cli
from dpol.core.options import Commands, add_command


def test_commands_that_cannot_be_loaded_are_named_and_break_no_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = EntryPoint("broken", "dpol_nothing:add", cli.GROUP)._for(distribution("dpol"))
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [broken, another("zip")])
    assert cli.main(["account", "--mu", "1"]) == 0
    with pytest.raises(SystemExit, match="0"):
        cli.main(["zip", "--help"])
    warnings = capsys.readouterr().err.splitlines()
    assert len(warnings) == 2
    assert set(warnings) == {
        "warning: dpol: cannot load its commands (No module named 'dpol_nothing'); install it again"
    }


def another(name: str) -> SimpleNamespace:
    """The entry point of another package, which adds a command."""

    def add(commands: Commands) -> None:
        add_command(commands, name, words="pack", example=f"dpol {name}")

    return SimpleNamespace(load=lambda: add)


def test_help_has_the_commands_of_other_packages_last(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    points = another("tar"), another("zip")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points)
    assert cli.main([]) == 0
    shown = re.findall(r"^    ([\w-]+) +\w", capsys.readouterr().out, re.MULTILINE)
    assert shown[-3:] == ["account", "tar", "zip"]
    assert sorted(shown) == sorted(commands_of(cli.parser_of_commands()))


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the commands, or of the actions of one."""
    choices = (it.choices for it in parser._actions if isinstance(it, argparse._SubParsersAction))
    return {name: one for chosen in choices for name, one in chosen.items()}


def every_parser(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    for one in commands_of(parser).values():
        yield from (one, *every_parser(one))


@pytest.mark.parametrize(
    "parser", [*every_parser(cli.parser_of_commands())], ids=lambda parser: parser.prog
)
def test_every_help_has_an_example_that_is_understood(parser: argparse.ArgumentParser) -> None:
    assert parser.epilog.startswith(f"Example: {parser.prog}")
    _, *words = parser.epilog.removeprefix("Example: ").split()
    cli.parser_of_commands().parse_args(words)

"""Commands are found in this package and in others, and shown to their readers."""

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
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: [broken, another("zip", "Archivists")]
    )
    assert cli.main(["account", "--mu", "1"]) == 0
    with pytest.raises(SystemExit, match="0"):
        cli.main(["zip", "--help"])
    warnings = capsys.readouterr().err.splitlines()
    assert len(warnings) == 2
    assert set(warnings) == {
        "warning: dpol: cannot load its commands (No module named 'dpol_nothing'); install it again"
    }


def another(name: str, readers: str | None = None) -> SimpleNamespace:
    """The entry point of another package, which adds a command."""

    def add(commands: Commands) -> None:
        if readers:
            add_command(commands, name, readers=readers, words="pack")
        else:
            commands.add_parser(name, help="pack")

    return SimpleNamespace(load=lambda: add)


def test_help_has_every_command_once_under_its_readers_in_order_of_arrival(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    points = another("tar", "Archivists"), another("zip"), another("sum", "Experiments")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points)
    assert cli.main([]) == 0
    heads = re.split(r"^(\w+):\n", capsys.readouterr().out, flags=re.MULTILINE)
    parts = dict(zip(heads[1::2], heads[2::2], strict=True))
    shown = {
        head: re.findall(r"^  ([\w-]+) +\w", part, re.MULTILINE) for head, part in parts.items()
    }
    assert shown.pop("options")
    assert list(shown) == ["Experiments", "Archivists", "Other"]
    assert shown["Experiments"][-2:] == ["account", "sum"]
    assert (shown["Archivists"], shown["Other"]) == (["tar"], ["zip"])
    every = [name for names in shown.values() for name in names]
    assert sorted(every) == sorted({*cli.parser_of_commands()._actions[-1].choices})


def every_parser(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of dpol's commands, and of their actions."""
    kinds = (it.choices for it in parser._actions if isinstance(it, argparse._SubParsersAction))
    for one in (one for choices in kinds for one in choices.values()):
        if one.get_default("readers") == "Experiments":
            yield from (one, *every_parser(one))


@pytest.mark.parametrize(
    "parser", [*every_parser(cli.parser_of_commands())], ids=lambda parser: parser.prog
)
def test_every_help_has_an_example_that_is_understood(parser: argparse.ArgumentParser) -> None:
    assert parser.epilog.startswith(f"Example: {parser.prog}")
    _, *words = parser.epilog.removeprefix("Example: ").split()
    cli.parser_of_commands().parse_args(words)
    assert parser.epilog.split()[-1] in parser.format_help()

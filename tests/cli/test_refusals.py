"""Every command: its help has an example; a refusal is one line with the remedy."""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from dpol import cli
from dpol.cli import main
from dpol.core.shipped import shipped_configs
from in_process import command
from pipeline import ROOT


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a config and a folder that is no run."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "config/shelters.yaml", "shelters.yaml")
    Path("state").mkdir()


TAKEN = "random-effects", "fixed-share", "capacity-memory"


@pytest.mark.parametrize(
    ("code", "words", "message"),
    [
        (2, "leagu one", "argument COMMAND: 'leagu' is unknown; did you mean league?; see dpol"),
        (2, "config", "required: ACTION"),
        (2, "config chek a", "'chek' is unknown; did you mean check?"),
        (1, "verify state", "not a finished run; name another folder"),
        (1, "config check nope.yaml", "cannot be read (No such file or directory); check the path"),
        (1, "config check state", "cannot be read (Is a directory); check the path"),
        (1, "config copy shelters", "exists already; rename it, or copy to another FILE"),
        (2, "run shelter", "shelter: no such config file; did you mean shelters?; write dpol run"),
        (2, "new algorithm My_Town", "lower-case letters"),
        (2, "new algorithm 2-b", "begin with"),
        (1, "new algorithm state", "exists already"),
        *((2, f"new algorithm {it}", f"{it}: dpol has one of this name") for it in TAKEN),
    ],
)
def test_a_mistake_is_told_in_one_line(code: int, words: str, message: str) -> None:
    before = sorted(Path().rglob("*"))
    found, out, err = command(*words.split())
    assert (found, out, err.count("\n"), err[:7]) == (code, "", 1, "error: ")
    assert message in err
    assert sorted(Path().rglob("*")) == before


def test_the_version_is_told_and_a_stopped_command_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert command("--version")[:2] == (0, f"dpol {version('dpol')}\n")

    def stop() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dpol.cli.config.shipped_configs", stop)
    said = "\nstopped: run the same command again to continue\n"
    assert command("config", "list") == (130, "", said)


def test_the_configs_that_come_with_dpol_are_listed_each_with_a_title() -> None:
    code, out, err = command("config", "list")
    configs, how = out.split("\n\n")
    titles = dict(re.split(" {2,}", line) for line in configs.splitlines())
    assert (code, err, list(titles)) == (0, "", list(shipped_configs()))
    assert titles["states"] == "The cost of privacy depends on the question"
    assert all(10 < len(title) < 110 for title in titles.values())
    assert how == "Run one: dpol run NAME. Copy one, to change it: dpol config copy NAME\n"


def test_an_error_of_the_system_that_no_command_foresees_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error", "disk/summary.parquet")

    monkeypatch.setattr("dpol.privacy.account.account", fail)
    said = "error: disk/summary.parquet: Input/output error\n"
    assert command("account", "--mu", "1") == (1, "", said)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_without_a_letter_shows_its_number(encoding: str) -> None:
    Path("shelters.yaml").rename("Łódź.yaml")
    raw = io.BytesIO()
    with contextlib.redirect_stdout(io.TextIOWrapper(raw, encoding=encoding)) as shown:
        assert main(["config", "check", "Łódź.yaml"]) == 0
        shown.flush()
    assert raw.getvalue().decode(encoding).startswith("\\u0141")


def test_signs_that_control_a_terminal_are_not_printed() -> None:
    file = Path("shelters.yaml")
    file.write_text(f"{file.read_text()}\u202ella: 1\n", encoding="utf-8")
    code, _, err = command("config", "check", "shelters.yaml")
    assert code == 1
    assert "\n  ?lla = 1: unknown key; " in err
    assert all(line.isprintable() for line in err.split("\n"))


def every_parser(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of all commands, and of their actions."""
    kinds = (it.choices for it in parser._actions if isinstance(it, argparse._SubParsersAction))
    for one in (one for choices in kinds for one in choices.values()):
        yield from (one, *every_parser(one))


@pytest.mark.parametrize(
    "parser", [*every_parser(cli.parser_of_commands())], ids=lambda parser: parser.prog
)
def test_every_help_has_an_example_that_is_understood_and_the_defaults(
    parser: argparse.ArgumentParser,
) -> None:
    assert parser.epilog.startswith(f"Example: {parser.prog}")
    _, *words = parser.epilog.removeprefix("Example: ").split()
    cli.parser_of_commands().parse_args(words)
    assert parser.epilog.split()[-1] in parser.format_help()
    for option in parser._actions:
        if told := re.search(r"\(default: ([-0-9. e]+)\)", option.help or ""):
            numbers = [float(it) for it in told[1].split()]
            assert np.atleast_1d(option.default).tolist() == numbers

"""Commands are found in this package and in others, and shown to their readers."""

from __future__ import annotations

import re
import subprocess
from importlib.metadata import EntryPoint, entry_points
from types import SimpleNamespace

import pytest

from dpol import cli


def test_commands_that_cannot_be_loaded_are_named_and_break_no_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (weekly,) = entry_points(group=cli.GROUP)
    broken = EntryPoint("broken", "dpol_nothing:add", cli.GROUP)._for(weekly.dist)
    monkeypatch.setattr(cli, "entry_points", lambda group: [broken, weekly])
    assert cli.main(["account", "--mu", "1"]) == 0
    with pytest.raises(SystemExit, match="0"):
        cli.main(["privatize", "--help"])
    warnings = capsys.readouterr().err.splitlines()
    assert len(warnings) == 2
    assert set(warnings) == {
        "warning: dpol: its commands cannot be loaded (No module named 'dpol_nothing'); install it"
        " again"
    }


def test_help_has_every_command_once_under_its_reader(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = SimpleNamespace(load=lambda: lambda commands: commands.add_parser("zip", help="pack"))
    points = [*entry_points(group=cli.GROUP), other]
    monkeypatch.setattr(cli, "entry_points", lambda group: points)
    assert cli.main([]) == 0
    heads = re.split(r"^(\w+):\n", capsys.readouterr().out, flags=re.MULTILINE)
    parts = dict(zip(heads[1::2], heads[2::2], strict=True))
    shown = {
        head: re.findall(r"^  ([\w-]+) +\w", part, re.MULTILINE) for head, part in parts.items()
    }
    assert shown.pop("options")
    assert list(shown) == ["Experiments", "Hospital", "Coordinator", "Other"]
    assert shown["Hospital"] == ["account", "privatize", "history", "audit", "publish-entry"]
    assert shown["Other"] == ["completion", "zip"]
    every = [name for names in shown.values() for name in names]
    assert sorted(every) == sorted({*cli.parser_of_commands()._actions[-1].choices})


WORDS = [("dpol co", "compare config completion collect"), ("dpol run shel", "shelters.yaml")]


@pytest.mark.parametrize(("typed", "wanted"), [*WORDS, ("dpol config co", "copy")])
def test_bash_completes_commands_and_files(typed, wanted, tmp_path, capsys) -> None:
    (tmp_path / "shelters.yaml").touch()
    assert cli.main(["completion", "bash"]) == 0
    ask = (
        "COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _shtab_dpol; echo ${COMPREPLY[*]}"
    )
    script = f"{capsys.readouterr().out}\n{ask % typed}\n"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == wanted.split()

"""Commands are found in this package and in others."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

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

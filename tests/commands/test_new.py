"""`dpol new` refuses names that a package cannot have."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpol.cli import main

TAKEN = "random-effects", "fixed-share", "capacity-memory"


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("My_Town", 2, "lower-case letters"),
        ("here", 1, "exists already"),
        ("2-b", 2, "begin with"),
        *((name, 2, f"{name}: dpol has one of this name") for name in TAKEN),
    ],
)
def test_a_name_that_cannot_be_taken(empty, capsys, name, code, said) -> None:
    (empty / "here").mkdir()
    assert main(["new", "algorithm", name]) == code
    assert said in capsys.readouterr().err
    assert [file.name for file in empty.iterdir()] == ["here"]

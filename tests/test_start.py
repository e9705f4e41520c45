"""`dpol demo` and `dpol run` start Snakemake with the flags of the user; configs are copied."""

from __future__ import annotations

from pathlib import Path

import pytest
from platformdirs import PlatformDirs

from dpol.cli import main
from pipeline import ROOT


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """Arguments with which `dpol` started Snakemake, in an empty folder."""
    programs: list[list[str]] = []
    monkeypatch.setattr("dpol.cli.start.start", lambda words, typed: programs.append(words))
    monkeypatch.chdir(tmp_path)
    return programs


@pytest.mark.parametrize(
    ("words", "config", "flags"),
    [
        ("demo", "demo", "--cores all"),
        ("demo here -n", "demo", "--cores all --directory here -n"),
        ("demo here -c1 -- a b", "demo", "--directory here -c1 -- a b"),
        ("run shelters --cores 1", "shelters", "--cores 1"),
    ],
)
def test_all_flags_reach_snakemake(
    started: list[list[str]], words: str, config: str, flags: str
) -> None:
    main(words.split())
    ((_, file, *rest),) = started
    assert file == str(ROOT / f"config/{config}.yaml")
    ours = {"--workflow-profile", "none", "--rerun-incomplete", "--logger", "dpol"}
    ours |= {"--snakefile", str(ROOT / "workflow/Snakefile")}
    assert ours <= {*rest}
    assert [word for word in rest if word not in ours] == flags.split()


def test_a_copied_config_is_run(
    started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "copy", "shelters"]) == 0
    assert capsys.readouterr().out.endswith("dpol run shelters.yaml\n")
    assert Path("shelters.yaml").read_bytes() == (ROOT / "config/shelters.yaml").read_bytes()
    main(["run", "shelters.yaml", "results/shelters/summary.parquet"])
    assert "shelters.yaml" in started[0]
    assert started[0][-1] == "results/shelters/summary.parquet"


def test_an_unwritable_home_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under --quiet Snakemake ends without a message."""
    monkeypatch.chdir(tmp_path)
    Path("home").write_text("a file")
    platforms = PlatformDirs("snakemake", "snakemake")
    monkeypatch.setattr("snakemake.common.APPDIRS", platforms)
    for name, place in (("HOME", "home"), ("XDG_CACHE_HOME", "home/cache")):
        monkeypatch.setenv(name, str(tmp_path / place))
    assert main(["demo", "--quiet"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: Snakemake cannot write its cache {tmp_path}/home/")
    assert said.endswith("; set XDG_CACHE_HOME to a folder that can be written\n")

"""`dpol run` starts Snakemake with the flags of the user; configs are copied."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import snakemake_logger_plugin_dpol as plugin
from dpol.cli import main
from pipeline import ROOT


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """Programs that `dpol` became, in an empty folder."""
    programs: list[list[str]] = []
    monkeypatch.setattr("os.execv", lambda program, words: programs.append(words))
    monkeypatch.chdir(tmp_path)
    Path("here").mkdir()
    return programs


@pytest.mark.parametrize(
    ("words", "config", "flags"),
    [
        ("run central-texas", "config", "--cores all"),
        ("run config --directory here -n", "config", "--cores all --directory here -n"),
        ("run config -c1 -- a b", "config", "-c1 -- a b"),
        ("run shelters --cores 1", "shelters", "--cores 1"),
        ("run shelters --jobs 2", "shelters", "--jobs 2"),
    ],
)
def test_all_flags_reach_snakemake(
    started: list[list[str]], words: str, config: str, flags: str
) -> None:
    main(words.split())
    (own,) = started
    begin = [sys.executable, "-P", "-m", "snakemake"]
    begin += ["--configfile", str(ROOT / f"config/{config}.yaml")]
    assert own[: len(begin)] == begin
    ours = {"--workflow-profile", str(ROOT / "profiles/default")}
    ours |= {"--snakefile", str(ROOT / "workflow/Snakefile")}
    rest = own[len(begin) :]
    assert ours <= {*rest}
    assert [word for word in rest if word not in ours] == flags.split()


@pytest.mark.parametrize("flags", ["--cores 0", "--jobs=0", "-c 0", "-Fc0", "-n -j00 streams"])
def test_a_run_without_a_core_is_refused(
    started: list[list[str]], capsys: pytest.CaptureFixture[str], flags: str
) -> None:
    """Snakemake would wait for ever."""
    assert main(["run", "shelters", *flags.split()]) == 2
    assert "leaves no core to run on; write --cores 1, or more" in capsys.readouterr().err
    assert started == []
    for other in ("-c 10", "--cores 02", "--config c0=0", "--retries 0"):
        main(["run", "shelters", *other.split()])
    assert len(started) == 4


def test_a_cache_that_cannot_be_written_moves_to_the_working_folder(
    started: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a home on a read-only disk."""
    (tmp_path / "file").touch()
    # Root may write the second, but nobody can make it.
    for home in (str(tmp_path / "file"), "/proc/none/home"):
        monkeypatch.setenv("HOME", home)
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        main(["run", "shelters"])
        assert os.environ["XDG_CACHE_HOME"] == str(tmp_path / ".snakemake/cache")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    main(["run", "shelters"])
    assert "XDG_CACHE_HOME" not in os.environ
    assert len(started) == 3


@pytest.mark.parametrize(
    "words",
    [
        "--workflow-profile profiles/slurm",
        "--profile=profiles/slurm/",
        "--profile profiles/cluster-generic",
    ],
)
def test_a_cluster_without_its_plug_in_is_refused_in_a_line(
    monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.setattr("sys.argv", ["snakemake", *words.split()])
    monkeypatch.setattr(plugin, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="in the clone run make cluster, elsewhere pip install"):
        plugin._refuse_cluster()
    monkeypatch.setattr(plugin, "find_spec", lambda name: name)
    plugin._refuse_cluster()


def test_a_copied_config_is_run(
    started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "copy", "shelters"]) == 0
    assert capsys.readouterr().out.endswith("dpol run shelters.yaml\n")
    assert Path("shelters.yaml").read_bytes() == (ROOT / "config/shelters.yaml").read_bytes()
    main(["run", "shelters.yaml", "results/shelters/summary.parquet"])
    assert "shelters.yaml" in started[0]
    assert started[0][-1] == "results/shelters/summary.parquet"
    Path("shelters.yaml").rename("shelters")
    main(["run", "shelters"])
    assert started[1][5] == "shelters", "a file of this folder goes before one of dpol"

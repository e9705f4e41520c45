"""The wheel holds the whole pipeline; `dpol demo` and `dpol run` start it."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import dpol
from dpol.cli import main
from pipeline import ROOT, built_wheel

SHIPPED = "config", "data/examples", "data/hospitals", "profiles", "workflow"
IN_WHEEL = {
    **{f"src/{package}": package for package in ("dpol", "snakemake_logger_plugin_dpol")},
    **{folder: f"dpol/pipeline/{folder}" for folder in (*SHIPPED, "verify")},
}


def test_wheel_holds_every_tracked_file_with_the_same_bytes(tmp_path: Path) -> None:
    listing = ["git", "ls-files", "-z", *IN_WHEEL, ":!verify/runs"]
    listed = subprocess.check_output(listing, cwd=ROOT, text=True)
    tracked = listed.rstrip("\0").split("\0")
    assert {"workflow/Snakefile", "config/demo.yaml", "src/dpol/py.typed"} <= {*tracked}
    with zipfile.ZipFile(built_wheel(tmp_path)) as wheel:
        for file in tracked:
            start = next(folder for folder in IN_WHEEL if file.startswith(f"{folder}/"))
            held = wheel.read(IN_WHEEL[start] + file.removeprefix(start))
            assert held == (ROOT / file).read_bytes(), file


def test_links_of_the_index_page_lead_to_the_repository(tmp_path, monkeypatch) -> None:
    home = "https://host.example/dpol"
    monkeypatch.setenv("DPOL_REPOSITORY", f"{home}/")
    with zipfile.ZipFile(built_wheel(tmp_path)) as wheel:
        (name,) = (file for file in wheel.namelist() if file.endswith("dist-info/METADATA"))
        text = wheel.read(name).decode()
    links = re.findall(r"(!?)\[[^]]*\]\(([^)]+)\)", text)
    assert ("!", f"{home}/raw/v{dpol.__version__}/docs/images/states-questions.png") in links
    assert [link for _, link in links if not link.startswith("https://")] == []
    assert f"Project-URL: Repository, {home}\n" in text


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """Arguments with which `dpol` started Snakemake, in an empty folder."""
    programs: list[list[str]] = []
    monkeypatch.setattr("os.execv", lambda _, words: programs.append(words))
    monkeypatch.chdir(tmp_path)
    return programs


def snakemake(config: str | Path, *rest: str) -> list[str]:
    start = [sys.executable, "-P", "-m", "snakemake", "--configfile", str(config)]
    start += ["--workflow-profile", "none", "--rerun-incomplete", "--show-failed-logs"]
    start += ["--logger", "dpol"]
    cores = rest[:2] if rest[:2] == ("--cores", "all") else ()
    return [*start, *cores, "--snakefile", str(ROOT / "workflow/Snakefile"), *rest[len(cores) :]]


@pytest.mark.parametrize(
    ("words", "folder", "flags"),
    [
        ("", "", ["--cores", "all"]),
        ("--dry-run", "", ["--cores", "all", "--dry-run"]),
        ("here -n", "--directory here", ["--cores", "all", "-n"]),
        ("--cores 1", "", ["--cores", "1"]),
        ("here -c1 -- a b", "--directory here", ["-c1", "--", "a", "b"]),
        ("--profile slurm -h", "", ["--profile", "slurm", "-h"]),
        ("--executor slurm", "", ["--executor", "slurm"]),
    ],
)
def test_demo_passes_all_flags_to_snakemake(started, words, folder, flags) -> None:
    main(["demo", *words.split()])
    cores = flags[:2] if flags[:2] == ["--cores", "all"] else []
    rest = [*cores, *folder.split(), *flags[len(cores) :]]
    assert started == [snakemake(ROOT / "config/demo.yaml", *rest)]


def test_run_plays_a_copied_config(started, capsys) -> None:
    assert main(["config", "copy", "shelters"]) == 0
    assert capsys.readouterr().out.endswith("dpol run shelters.yaml\n")
    assert Path("shelters.yaml").read_bytes() == (ROOT / "config/shelters.yaml").read_bytes()
    main(["run", "shelters.yaml", "results/shelters/summary.parquet", "--help"])
    flags = ["--cores", "all", "results/shelters/summary.parquet", "--help"]
    assert started == [snakemake("shelters.yaml", *flags)]


def test_run_plays_a_shipped_config_by_its_name(started) -> None:
    main(["run", "shelters", "--verbose", "--cores", "1"])
    config = ROOT / "config/shelters.yaml"
    assert started == [snakemake(config, "--verbose", "--cores", "1")]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("run", 2, "error: no config is given; write dpol run CONFIG, then the flags; CONFIG is"),
        ("run nope.yaml -n", 2, "error: nope.yaml: no such config file; write dpol run CONFIG"),
        ("run --cores 2 demo.yaml", 2, "error: --cores: no such config file; write dpol run CONFI"),
        (
            "config copy shelter",
            2,
            "error: shelter: no such config comes with dpol; did you mean",
        ),
        ("config copy demo", 1, "error: demo.yaml: exists already; rename it, or copy in another "),
    ],
)
def test_a_missing_config_is_refused(started, capsys, words, code, message) -> None:
    Path("demo.yaml").touch()
    assert main(words.split()) == code
    assert capsys.readouterr().err.startswith(message)
    assert started == []


@pytest.mark.parametrize("words", ["demo -h", "run --help"])
def test_dpol_prints_its_own_help(started, capsys, words) -> None:
    assert main(words.split()) == 0
    assert capsys.readouterr().out.startswith(f"usage: dpol {words.split()[0]}")
    assert started == []

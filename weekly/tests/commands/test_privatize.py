"""`dpol privatize`: never a traceback, always one line that says what is released, and no count."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dpol_weekly.holder import release as release_module
from releases import NOISY, USUAL, own_of, run


def privatize(*rows):
    """The result of the command on rows, and the files that it left."""
    Path("counts.csv").write_text("\n".join(["hospital,week,covid,beds", *rows, ""]))
    own_of(USUAL)
    result = run("privatize", "--agree", USUAL.sha256())
    return result, {it.name: it.read_bytes() for it in NOISY.glob("*")}


def test_raw_counts_are_shown_nowhere(folder):
    rows = ["A,2021-01-01,86420.97531,5", "A,2021-01-08,0,5"]
    bad, nothing = privatize(*rows, "A,2021-01-15,86420.97531x,5")
    assert (bad[0], bad[1], bad[2].count("\n"), nothing) == (1, "", 1, {})
    good, left = privatize(*rows)
    assert (good[0], "2 rows released" in good[1]) == (0, True)
    assert "Some count is above its capacity" in good[2]
    files = [data.decode("latin-1") for data in left.values()]
    assert "86420.97531" not in "".join([*good[1:], *bad[1:], *files])


def stop(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize("name", ["read_counts", "keyed_noise", "atomic_path"])
def test_ctrl_c_ends_in_one_line_and_releases_nothing(folder, monkeypatch, name):
    monkeypatch.setattr(release_module, name, stop)
    result, left = privatize("A,2021-01-08,7.5,20")
    said = "\nstopped: run the same command again to continue\n"
    assert (result, left) == ((130, "", said), {})


LARGE = {"pandas", "pyarrow", "matplotlib", "dp_accounting", "scipy.stats"}


@pytest.mark.parametrize(
    ("code", "others"),
    [
        ("main(['--help'])", {"numpy", "scipy", "yaml", "pydantic"}),
        ("import dpol_weekly.commands, dpol_weekly.records", {"snakemake"}),
        ("import dpol_weekly.holder.release, dpol_weekly.holder.init", {"snakemake"}),
        ("from dpol_weekly.coordinator import collect, decide, export", {"snakemake"}),
    ],
)
def test_what_answers_at_once_imports_nothing_large(code, others):
    """dp_accounting alone takes a second."""
    code = f"""import sys
from dpol.cli import main
try:
    {code}
finally:
    print("imported", {LARGE | others} & set(sys.modules))"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "imported set()"

"""`dpol privatize`: never a traceback, always one line that says what is released, and no count."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dpol_weekly import sqlite
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder import release as release_module
from dpol_weekly.holder import text as release_text
from releases import COLUMNS, KEYS, own_file, run

MADE = Deployment.model_validate(KEYS)


def privatize(*rows):
    """The result of the command on rows, which may begin a ledger, and the files that it left."""
    Path("counts.csv").write_text("\n".join(["hospital,week,covid,beds", *rows, ""]))
    Path("d.yaml").write_text(json.dumps(KEYS))
    own_file(columns=COLUMNS, entities=list("ABC"))
    result = run("privatize", "--agree", MADE.sha256(), "--begin-after", "2020-12-31")
    names = {"counts.csv", "d.yaml", "hospital.yaml", "dpol.key", "dpol.secret"}
    return result, {it.name: it.read_bytes() for it in Path().rglob("*.*") if it.name not in names}


def test_raw_counts_are_shown_nowhere(folder):
    rows = ["A,2021-01-01,86420.97531,5", "A,2021-01-08,0,5"]
    bad, nothing = privatize(*rows, "A,2021-01-15,86420.97531x,5")
    assert (bad[0], bad[1], bad[2].count("\n"), nothing) == (1, "", 1, {})
    good, left = privatize(*rows)
    assert (good[0], "2 rows released" in good[1]) == (0, True)
    assert "Some count is above its capacity" in good[2]
    assert sorted(left) == ["d-2021-01-08.json", "dpol-ledger.sqlite"]
    files = [data.decode("latin-1") for data in left.values()]
    assert "86420.97531" not in "".join([*good[1:], *bad[1:], *files])


def stop(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("module", "name", "said", "rows"),
    [
        (release_module, "read_counts", "nothing was released", 0),
        (release_module, "noisy", "nothing was released", 0),
        (release_module, "add_rows", "nothing was released", 0),
        (release_module, "mu_of_stay", "the rows are released, and any further run writes", 1),
        (release_text, "describe", "the rows are released and written to noisy/d-2021-01-08", 1),
    ],
)
def test_ctrl_c_ends_in_one_line_that_says_what_is_released(
    folder, monkeypatch, module, name, said, rows
):
    with monkeypatch.context() as patched:
        patched.setattr(module, name, stop)
        (code, out, err), left = privatize("A,2021-01-08,7.5,20")
    assert (code, "released for" in out) == (130, False)
    assert err.startswith(f"\nstopped: {said}")
    assert err.count("\n") == 2
    assert (b"2021-01-08" in left.get("dpol-ledger.sqlite", b"")) == bool(rows)


def test_a_commit_that_fails_releases_nothing_and_says_so(folder, monkeypatch):
    """Only the ledger knows; the rows were entered, and are not there."""
    right = sqlite._patiently
    entered = []

    def fails(base, statement):
        entered.append(statement == "COMMIT")
        if statement == "COMMIT" and base.execute("SELECT 1 FROM release").fetchone():
            raise KeyboardInterrupt
        right(base, statement)

    with monkeypatch.context() as patched:
        patched.setattr(sqlite, "_patiently", fails)
        (code, _, err), left = privatize("A,2021-01-08,7.5,20")
    assert (code, any(entered)) == (130, True)
    assert err.startswith("\nstopped: nothing was released")
    assert not any(name.startswith("d-") for name in left)


LARGE = {"pandas", "pyarrow", "matplotlib", "dp_accounting", "scipy.stats"}


@pytest.mark.parametrize(
    ("code", "others"),
    [
        ("main(['--help'])", {"numpy", "scipy", "yaml", "pydantic"}),
        ("import dpol_weekly.commands, dpol_weekly.records", {"snakemake"}),
        ("import dpol_weekly.holder.text", {"snakemake"}),
        ("from dpol_weekly.coordinator import collect, decide, export", {"snakemake"}),
    ],
)
def test_what_answers_at_once_imports_nothing_large(code, others):
    """dp_accounting alone takes a second, which the event of a record must not cost."""
    code = f"""import sys
from dpol.cli import main
try:
    {code}
finally:
    print("imported", {LARGE | others} & set(sys.modules))"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "imported set()"

"""The guarantee that a record states follows from its file, by code that shares nothing with it."""

from __future__ import annotations

import ast
import math
import sys
from copy import deepcopy
from pathlib import Path

import pytest

from dpol_weekly import records
from dpol_weekly.deployment import checked_deployment
from dpol_weekly.holder import ceiling, record
from dpol_weekly.noise import CountNoise
from releases import A1, A2, B1, KEYS, forge, newest, parts, put, repack, run
from releases import record as record_of

MADE = checked_deployment(KEYS | {"mu": 0.7, "count_sensitivity": 1.25, "budget_mu": 9}, "test")


def recomputed(*files, made=MADE):
    """Exit code, output and errors of `dpol recompute` on some files, or on the newest one."""
    Path("agreed.yaml").write_text(made.agreement())
    return run("recompute", *(files or [newest()]), "--deployment", "agreed.yaml")


def test_what_is_recomputed_is_what_the_record_states():
    """Over three weekly files, each of which holds the rows before; one period was corrected."""
    put(A1, B1, made=MADE)
    put(A1, B1, A2, made=MADE)
    put(A1, B1, A2, made=MADE, correct=[A1[1]], seed=2)
    code, out, err = recomputed(*sorted(Path("noisy").glob("*.zip")))
    assert (code, err, out.count("within budget_mu 9")) == (0, "", 2)
    stated = record_of()["guarantee"]
    assert stated["mu"] == pytest.approx(0.7 * math.sqrt(2))
    assert stated["mu_of_stay"] == pytest.approx(0.7 * math.sqrt(16))
    assert "mu = 0.99 for a person in one period" in out
    assert "mu = 2.8 for a stay of 8 periods" in out


def test_the_ceiling_holds_over_all_files():
    """Two ledgers about the same people and weeks are each within the budget, but not together."""
    made = checked_deployment(KEYS | {"budget_mu": 1.5, "corrections": False}, "test")
    put(A1, made=made)
    put(A1, made=made, to=Path("other/noisy"), ledger=Path("other/ledger.sqlite"))
    files = newest(), newest("other/noisy")
    assert recomputed(files[0], made=made)[0] == 0
    code, _, err = recomputed(*files, made=made)
    assert (code, "ceiling: a period of an entity spends more" in err) == (1, True)


CHANGES = {
    "scale": lambda it: it["noise"].update(scale=it["noise"]["scale"] - 3),
    "larger scale": lambda it: it["noise"].update(scale=it["noise"]["scale"] + 3),
    "mu of the noise": lambda it: it["noise"].update(mu="0.4"),
    "sensitivity": lambda it: it["noise"].update(count_sensitivity="0.5"),
    "grid": lambda it: it["noise"].update(decimals=7),
    "mu": lambda it: it.update(mu=0.4),
    "mu of the stay": lambda it: it.update(mu_of_stay=0.4),
    "budget": lambda it: it.update(budget_mu=50),
    "stay": lambda it: it.update(longest_stay=1),
    "no noise": lambda it: it.pop("noise"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_record_that_states_something_else_is_refused(change):
    put(A1, A2, made=MADE)
    stated = deepcopy(record_of()["guarantee"])
    change(stated)
    forge(guarantee=stated)
    code, _, err = recomputed()
    assert (code, str(newest()) in err, "do not rely on it" in err) == (1, True, True)


def wrong_scale(monkeypatch):
    scale = CountNoise.scale.func
    monkeypatch.setattr(CountNoise, "scale", property(lambda noise: scale(noise) * 9 // 10))


def one_release_only(monkeypatch):
    few = lambda *arguments: {0: min(ceiling.spent(*arguments).values())}  # noqa: E731
    monkeypatch.setattr(record, "spent", few)


def stays_of_one(monkeypatch):
    monkeypatch.setattr(record, "mu_of_such_stay", lambda spent, stay: math.sqrt(spent))


@pytest.mark.parametrize("mutant", [wrong_scale, one_release_only, stays_of_one])
def test_a_wrong_formula_is_noticed(monkeypatch, mutant):
    with monkeypatch.context() as patched:
        mutant(patched)
        put(A1, B1, A2, made=MADE)
        put(A1, B1, A2, made=MADE, correct=[A1[1]], seed=2)
    assert recomputed()[0] == 1


def test_a_changed_table_and_other_files_are_refused():
    put(A1, B1, made=MADE)
    rows = parts(newest())["table.csv"]
    repack(table=rows.replace(b"B,", b"C,"))
    assert "sha256" in recomputed()[2]
    for damaged in (rows.replace(b"A,2021-01-01", b"A,2021-01-0x"), b"", rows[:-20]):
        forge(table=damaged)
        assert recomputed()[0] == 1
    assert "cannot be read" in recomputed("counts.csv")[2]
    assert "another agreement" in recomputed(made=MADE.model_copy(update={"name": "x"}))[2]


def test_the_check_needs_python_alone():
    tree = ast.parse(Path(records.__file__).read_text())
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {
        a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names
    }
    assert {name.partition(".")[0] for name in modules} <= sys.stdlib_module_names

"""The guarantee that a record states follows from its file, by code that shares nothing with it."""

from __future__ import annotations

import ast
import json
import math
import sys
from copy import deepcopy
from fractions import Fraction
from pathlib import Path

import pytest

import dpol
from dpol.privacy import records
from dpol_weekly import memory
from dpol_weekly.holder import ceiling, claims, views
from dpol_weekly.noise import CountNoise
from dpol_weekly.records import recompute
from releases import A1, A2, B1, deployment, forge, newest, put, record, repack, run, table

A3 = ("A", "2021-01-15", "2")
AGREEMENTS = {
    "independent": {},
    "stays": {"unit_weeks": 3},
    "memory": {"noise": {"memory": "designed"}},
    "memory, stays": {"noise": {"memory": "designed"}, "unit_weeks": 4, "count_sensitivity": 2},
    "corrections": {"mu": 0.3},
    "fine grid": {"mu": 0.7, "count_sensitivity": 1.25},
}


def released(keys, **options):
    """Three weeks of one hospital and one of another; with corrections, one week twice."""
    made = deployment(budget_mu=50, **keys)
    put(A1, B1, A2, A3, made=made, **options)
    if keys is AGREEMENTS["corrections"]:
        put(A1, B1, A2, A3, made=made, correct=["2021-01-08"], **options)


@pytest.mark.parametrize("keys", AGREEMENTS.values(), ids=AGREEMENTS)
def test_what_is_recomputed_is_what_the_record_states(keys):
    released(keys)
    (found,) = recompute([newest()])
    assert found.mu == record()["mu"]
    assert (found.unit, found.stay) == (keys.get("unit_weeks", 1), 8)
    assert found.rows == record()["rows"]
    assert 0 < found.stay_mu <= found.budget == 50


def test_the_ceiling_holds_over_all_outputs():
    """Two ledgers about the same people and weeks are each within the budget, but not together."""
    made = deployment(budget_mu=1.5)
    put(A1, made=made)
    elsewhere = Path("other")
    put(A1, made=made, to=elsewhere / "noisy", ledger=elsewhere / "ledger.sqlite")
    one, other = newest(), newest(elsewhere / "noisy")
    assert recompute([one])[0].stay_mu == pytest.approx(math.sqrt(2))
    with pytest.raises(ValueError, match="ceiling: a period of an entity spends more"):
        recompute([one, other])


CHANGES = {
    "scale": lambda it: it["guarantee"]["noise"][0].update(scale=_of(it)["scale"] - 3),
    "scale, larger": lambda it: it["guarantee"]["noise"][0].update(scale=_of(it)["scale"] + 3),
    "norm": lambda it: _of(it).update(squared_norm="1/2"),
    "mu of the noise": lambda it: _of(it).update(mu="0.4"),
    "sensitivity": lambda it: _of(it).update(count_sensitivity="0.5"),
    "a": lambda it: _of(it).update(a="1/2"),
    "b": lambda it: _of(it).update(b="1/100"),
    "unit": lambda it: _of(it).update(unit_weeks=2),
    "length of chains": lambda it: _of(it).update(chain_periods=7),
    "grid": lambda it: _of(it).update(decimals=7),
    "rows of a kind": lambda it: _of(it).update(rows=1),
    "rows": lambda it: it.update(rows=1),
    "mu": lambda it: it.update(mu=0.4),
    "mu, larger": lambda it: it.update(mu=0.6),
    "mu alone": lambda it: it.update(mu_of_one_entity_alone=0.3),
    "a short stay": lambda it: it["stays"].__setitem__(0, 0.4),
    "a long stay": lambda it: it["stays"].__setitem__(3, it["stays"][3] * 0.99),
    "fewer stays": lambda it: it["stays"].pop(),
    "spent": lambda it: it["guarantee"]["ceiling"].update(most="1/100"),
    "budget": lambda it: it["guarantee"]["ceiling"].update(budget_mu=0.5),
    "endless stay": lambda it: it["guarantee"]["ceiling"].update(longest_stay=10**6),
    "no claim": lambda it: it.pop("guarantee"),
}


def _of(facts):
    return facts["guarantee"]["noise"][0]


@pytest.mark.parametrize("keys", ["independent", "memory, stays"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_record_that_states_something_else_is_refused(change, keys):
    released(AGREEMENTS[keys])
    facts = deepcopy(record())
    change(facts)
    if "guarantee" in facts:
        forge(**facts)
    else:
        whole = record()
        del whole["guarantee"]
        repack(record=json.dumps(whole).encode())
        forge()
    with pytest.raises(ValueError, match=str(newest())):
        recompute([newest()])


def smaller_scale(monkeypatch):
    sound = CountNoise.scale_with_memory
    monkeypatch.setattr(CountNoise, "scale_with_memory", lambda *it: sound(*it) * 9 // 10)


def norm_without_cross_terms(monkeypatch):
    def norm(a, b, count):
        return count * (1 + (b - a) ** 2 / (1 - b**2))

    memory.squared_growth.cache_clear()
    memory.terms_of.cache_clear()
    for module in (memory, claims):
        monkeypatch.setattr(module, "squared_norm", norm)


def no_error_of_rounding(monkeypatch):
    sound = CountNoise.scale_with_memory
    memory.terms_of.cache_clear()
    monkeypatch.setattr(CountNoise, "scale_with_memory", lambda it, norm, _: sound(it, norm, 0))


def growth_of_independent_noise(monkeypatch):
    monkeypatch.setattr(views, "growth", lambda memories, periods: math.sqrt(periods / 4))


def light_rows(monkeypatch):
    monkeypatch.setattr(ceiling, "row_weight", lambda mu, of, most: mu**2 / 2 / 100)


def one_release_only(monkeypatch):
    monkeypatch.setattr(views, "spent", lambda *_: 0.3)


MUTANTS = {
    "scale": (smaller_scale, "memory, stays"),
    "norm": (norm_without_cross_terms, "memory, stays"),
    "rounding": (no_error_of_rounding, "memory, stays"),
    "stays": (growth_of_independent_noise, "memory, stays"),
    "ceiling": (light_rows, "independent"),
    "sum of releases": (one_release_only, "corrections"),
}


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS)
def test_a_wrong_formula_is_noticed(monkeypatch, mutant):
    change, keys = mutant
    memory.terms_of.cache_clear()
    with monkeypatch.context() as patched:
        change(patched)
        released(AGREEMENTS[keys])
    memory.squared_growth.cache_clear()
    memory.terms_of.cache_clear()
    with pytest.raises(ValueError, match="follows|noise"):
        recompute([newest()])


def test_a_changed_table_and_other_files_are_refused():
    put(A1, B1)
    rows = table()
    repack(table=rows.replace(b"B,", b"C,"))
    with pytest.raises(ValueError, match="sha256"):
        recompute([newest()])
    for damaged in (rows.replace(b"A,2021-01-01", b"A,2021-01-0x"), b"", rows[:-20]):
        repack(table=damaged)
        forge()
        with pytest.raises(ValueError, match=str(newest())):
            recompute([newest()])
    with pytest.raises(ValueError, match="cannot be read"):
        recompute([Path("counts.csv")])


def test_the_command_says_what_follows(capsys):
    released({})
    code, out, _ = run("account", "--record", newest())
    assert code == 0
    assert "mu = 0.5 for a person in 1 period" in out
    assert "mu = 1.415 at most for a stay of 8 periods, within budget_mu 50" in out
    forge(mu=0.4)
    code, _, err = run("account", "--record", newest())
    assert (code, "mu: is not what follows from the rest of the file" in err) == (1, True)


def test_the_check_needs_python_alone():
    tree = ast.parse(Path(records.__file__).read_text())
    names = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else map(_name, node.names))
    }
    assert names <= sys.stdlib_module_names
    assert dpol.__version__ in record_version()


def _name(alias):
    return alias.name


def record_version():
    put(A1)
    return record()["guarantee"]["version"]


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_both_codes_have_one_norm(count):
    for a, b in (("0", "0.6"), ("0.2", "0.99"), ("0", "0")):
        ours = records._norm(Fraction(a), Fraction(b), count)
        assert ours == memory.squared_norm(Fraction(a), Fraction(b), count)

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
from faults import within
from releases import A1, A2, B1, KEYS, deployment, forge, newest, put, repack, run, table
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
    code, out, err = recomputed(*sorted(Path("noisy").glob("*.json")))
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
    assert (code, str(newest()) in err) == (1, True)
    assert "do not rely on it" in err or "is not as dpol privatize writes it" in err


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
    rows = table()
    repack(rows=[["C", *row[1:]] for row in rows])
    assert "is not signed by the key" in recomputed()[2]
    for damaged in ([["A", "2021-01-0x", *rows[0][2:]]], [], rows[:1], [rows[0][:3]]):
        forge(rows=damaged)
        assert recomputed()[0] == 1
    assert "is not a release of dpol" in recomputed("counts.csv")[2]
    repack(words=None)
    assert "is not as dpol privatize writes it" in recomputed()[2]


def test_a_file_of_another_agreement_is_refused():
    put(A1, made=MADE)
    assert "another agreement" in recomputed(made=MADE.model_copy(update={"name": "x"}))[2]


def test_every_row_has_its_own_mu_and_names_are_folded():
    """mu 0.5 in one agreement and 5 in another are not within the first one's budget."""
    little = deployment(name="little", budget_mu=2, corrections=False)
    much = deployment(name="much", mu=5, budget_mu=20, entities={"a.": {}}, corrections=False)
    put(A1, made=little, to=Path("one/noisy"), ledger=Path("one/ledger.sqlite"))
    put(("a.", *A1[1:]), made=much, to=Path("two/noisy"), ledger=Path("two/ledger.sqlite"))
    words = []
    for made in (little, much):
        Path(f"{made.name}.yaml").write_text(made.agreement())
        words += ["--deployment", f"{made.name}.yaml"]
    one, two = newest("one/noisy"), newest("two/noisy")
    assert (run("recompute", one, *words)[0], run("recompute", two, *words)[0]) == (0, 0)
    code, _, err = run("recompute", two, one, *words)
    assert (code, "ceiling: a period of an entity spends more" in err) == (1, True)


def test_one_identifier_in_two_spellings_is_one_entity_here_and_for_the_holder():
    same = ["St.Mary-01", "st_mary1", "ST-MARY.001"]
    assert len({*map(records.alike, same)}) == 1
    assert len({*map(records.alike, ["a1", "a11", "1-11", "11-1", "a", "b"])}) == 6


HOSTILE = {
    "an exponent": (b'"mu": 0.7', b'"mu": 1e999999999'),
    "many digits": (b'"decimals": 6', b'"decimals": ' + b"9" * 5000),
    "a large grid": (b'"decimals": 6', b'"decimals": 1000000000'),
    "a text with an exponent": (
        b'"count_sensitivity": "1.25"',
        b'"count_sensitivity": "1e99999999"',
    ),
    "a constant": (b'"mu": 0.7', b'"mu": NaN'),
    "nested": (b'"longest_stay": 8', b'"longest_stay": ' + b"[" * 200_000),
    "a key twice": (b'"longest_stay": 8', b'"longest_stay": 1, "longest_stay": 8'),
    "a further key": (b'"longest_stay": 8', b'"longest_stay": 8, "raw": 3'),
    "no number": (b'"longest_stay": 8', b'"longest_stay": true'),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_hostile_numbers_are_bounded_before_they_are_read(change):
    put(A1, made=MADE)
    whole = newest().read_bytes()
    assert change[0] in whole
    newest().write_bytes(whole.replace(*change))
    code, _, err = within(5, recomputed)
    assert (code, err.count("\n")) == (1, 1)


def test_the_check_needs_python_alone():
    tree = ast.parse(Path(records.__file__).read_text())
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {
        a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names
    }
    assert {name.partition(".")[0] for name in modules} <= sys.stdlib_module_names

"""What releases cost follows from their rows, by code that shares nothing with `privatize`."""

from __future__ import annotations

import ast
import json
import math
import sys
from pathlib import Path

import pytest

from dpol_weekly import records
from dpol_weekly.deployment import checked_deployment
from dpol_weekly.holder.history import history
from releases import A1, A2, B1, KEYS, LEDGER, deployment, forge, newest, put, repack, run, table

MADE = checked_deployment(KEYS | {"mu": 0.7, "count_sensitivity": 1.25, "budget_mu": 9}, "test")


def recomputed(*files, made=MADE):
    """Exit code, output and errors of `dpol recompute` on some files, or on the newest one."""
    Path("agreed.yaml").write_text(made.agreement())
    return run("recompute", *(files or [newest()]), "--deployment", "agreed.yaml")


def test_what_is_recomputed_is_what_the_ledger_says():
    """Over three weekly files, each of which holds the rows before; one period was corrected."""
    put(A1, B1, made=MADE)
    put(A1, B1, A2, made=MADE)
    done = put(A1, B1, A2, made=MADE, correct=[A1[1]], seed=2)
    code, out, err = recomputed(*sorted(Path("noisy").glob("*.json")))
    assert (code, err, done.mu_of_stay) == (0, "", pytest.approx(0.7 * math.sqrt(16)))
    assert "noisy/d-2021-01-01.json: 2 rows, mu = 0.7 for a person in one period" in out
    assert "noisy/d-2021-01-08.json: 5 rows, mu = 0.99 for a person in one period" in out
    assert out.count("All these files, for people under the agreement d") == 1
    assert "one person in one period, who changes one count by at most 1.25." in out
    assert "Guarantee: mu = 0.99 (Gaussian" in out
    assert "right at most 69 times in 100" in out  # Phi(0.495)
    assert "at most mu = 2.8 for 8 periods, within budget_mu 9." in out


def test_words_speak_of_a_person_who_is_counted_in_full():
    made = checked_deployment(KEYS | {"count_sensitivity": 0.001}, "test")
    put(A1, made=made)
    out = recomputed(made=made)[1]
    assert "who changes one count by at most 0.001." in out
    assert "right at most 100 times in 100" in out


def test_the_ceiling_holds_over_all_files():
    """Two ledgers about the same people and weeks are each within the budget, but not together."""
    made = checked_deployment(KEYS | {"budget_mu": 1.5, "corrections": False}, "test")
    put(A1, made=made)
    put(A1, made=made, to=Path("other/noisy"), ledger=Path("other/ledger.sqlite"))
    files = newest(), newest("other/noisy")
    assert recomputed(files[0], made=made)[0] == 0
    code, _, err = recomputed(*files, made=made)
    assert (code, "ceiling: a period spends more" in err) == (1, True)


def test_two_agreements_of_other_sensitivities_add_up_as_in_the_ledger():
    """Under any names; an amendment and its first agreement are one."""
    coarse = deployment(name="coarse", count_sensitivity=2)
    since = "2021-01-08"
    later = deployment(
        name="coarse",
        count_sensitivity=2,
        entities=KEYS["entities"] | {"D": {"since": since}},
        amends={"agreement": coarse.sha256(), "since": since},
    )
    fine = deployment(name="fine", mu=0.25, count_sensitivity=0.5, entities={"x": {}, "y": {}})
    put(A1, B1, made=coarse)
    put(A1, B1, A2, made=later)
    put(("x", *A1[1:]), ("y", *A1[1:]), ("x", *A2[1:]), made=fine, to=Path("fine"))
    put(("x", *A1[1:]), ("y", *A1[1:]), made=fine, to=Path("fine"), correct=[A1[1]], seed=3)
    words = []
    for made in (coarse, later, fine):
        path = Path(f"{made.sha256()[:8]}.yaml")
        path.write_text(made.agreement())
        words += ["--deployment", path]
    files = [*Path("noisy").glob("*.json"), *Path("fine").glob("*.json")]
    code, out, err = run("recompute", *files, *words, "--json")
    found = {it["agreement"]: it["period_mu"] for it in json.loads(out)["records"]}
    # For a person who moves a count by 2, a row of `fine` has mu 0.25 * 2 / 0.5 = 1.
    assert found[later.sha256()] == found[coarse.sha256()] == pytest.approx(math.sqrt(0.25 + 2))
    assert found[fine.sha256()] == pytest.approx(math.sqrt(2 * 0.25**2 + 0.25))
    assert (code, err) == (0, "")
    stays = {stay["deployment"]: stay["mu_in_a_period"] for stay in history(LEDGER)["stays"]}
    assert stays == {
        "coarse": pytest.approx(found[later.sha256()]),
        "fine": pytest.approx(found[fine.sha256()]),
    }


def test_a_changed_table_and_other_files_are_refused():
    put(A1, B1, made=MADE)
    rows = table()
    repack(rows=[["C", *row[1:]] for row in rows])
    assert "is not signed by the key" in recomputed()[2]
    for day in ("0x", "32"):
        forge(rows=[["A", f"2021-01-{day}", *rows[0][2:]]])
        assert recomputed()[0] == 1
    for damaged in ([], [rows[0][:3]], [[*rows[0], "more"]]):
        forge(rows=damaged)
        assert recomputed()[0] == 1
    assert "is not a release of dpol" in recomputed("counts.csv")[2]
    repack(agreement=None)
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
    assert (code, "ceiling: a period spends more" in err) == (1, True)


def test_one_identifier_in_two_spellings_is_one_entity_here_and_for_the_holder():
    same = ["St.Mary-01", "st_mary1", "ST-MARY.001"]
    assert len({*map(records.alike, same)}) == 1
    assert len({*map(records.alike, ["a1", "a11", "1-11", "11-1", "a", "b"])}) == 6


def test_the_check_needs_python_alone():
    tree = ast.parse(Path(records.__file__).read_text())
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {
        a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names
    }
    assert {name.partition(".")[0] for name in modules} <= sys.stdlib_module_names

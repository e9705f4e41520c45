"""What releases cost follows from their rows, by code that shares nothing with `privatize`."""

from __future__ import annotations

import ast
import math
import sys
from pathlib import Path

import pytest

from dpol_weekly import records
from dpol_weekly.deployment import checked_deployment
from releases import A1, A2, B1, KEYS, deployment, forge, newest, put, run, table

TWICE = {"second_release": {"after": 4}}
OWN = {"mu": 0.7, "count_sensitivity": 1.25, "budget_mu": 9}
MADE = checked_deployment(KEYS | OWN | TWICE, "test")


def recomputed(*files, made=MADE):
    """Exit code, output and errors of `dpol recompute` on some files, or on the newest one."""
    Path("agreed.yaml").write_text(made.agreement())
    return run("recompute", *(files or [newest()]), "--deployment", "agreed.yaml")


def test_what_is_recomputed_of_weekly_files():
    """Over weekly files, each of which holds the rows before; all is released twice."""
    put(A1, B1, made=MADE)
    done = put(A1, B1, A2, made=MADE)
    code, out, err = recomputed(*sorted(Path("noisy").glob("*.json")))
    assert (code, err) == (0, "")
    assert done.mu_of_stay == pytest.approx(0.7 * math.sqrt(16))
    assert "2021-01-01.json: 2 rows for 2021-01-01, mu = 0.7 for a person" in out
    assert "json: 5 rows for 2021-01-01 to 2021-01-08, mu = 0.99 for a person in one" in out
    assert out.count("All these files, for people under the agreement d") == 1
    assert "one person in one period, who changes one count by at most 1.25." in out
    assert "Guarantee: mu = 0.99 (Gaussian" in out
    assert "right at most 69 times in 100" in out  # Phi(0.495)
    assert "at most mu = 2.8 for 8 periods, within budget_mu 9." in out


def test_two_agreements_of_other_sensitivities_add_up():
    """Under any names; an amendment and its first agreement are one."""
    coarse = deployment(name="coarse", count_sensitivity=2)
    since = "2021-01-08"
    later = deployment(
        name="coarse",
        count_sensitivity=2,
        entities=KEYS["entities"] | {"D": {"since": since}},
        amends={"agreement": coarse.sha256(), "since": since},
    )
    fine = {"mu": 0.25, "count_sensitivity": 0.5, "entities": {"x": {}, "y": {}}}
    fine = deployment(name="fine", **fine, **TWICE)
    put(A1, B1, made=coarse)
    put(A1, B1, A2, made=later)
    stays = []
    for _ in range(2):
        done = put(("x", *A1[1:]), ("y", *A1[1:]), ("x", *A2[1:]), made=fine)
        stays.append(done.mu_of_stay**2 / 8)
    words = []
    for made in (coarse, later, fine):
        path = Path(f"{made.sha256()[:8]}.yaml")
        path.write_text(made.agreement())
        words += ["--deployment", path]
    code, out, err = run("recompute", *Path("noisy").glob("*.json"), *words)
    assert (code, err) == (0, "")
    # For a person who moves a count by 2, a row of `fine` has mu 0.25 * 2 / 0.5 = 1.
    assert f"mu = {math.sqrt(0.25 + 2):.4g} (Gaussian" in out
    assert stays[-1] == pytest.approx(2 * 0.25**2 + 0.25)


def test_a_date_that_is_none_is_refused():
    put(A1, made=MADE)
    forge(rows=[["A", "2021-01-32", *table()[0][2:]]])
    assert recomputed()[0] == 1


def test_a_file_of_another_agreement_is_refused():
    put(A1, made=MADE)
    assert "another agreement" in recomputed(made=MADE.model_copy(update={"name": "x"}))[2]


def test_the_check_needs_python_alone():
    tree = ast.parse(Path(records.__file__).read_text())
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {
        a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names
    }
    assert {name.partition(".")[0] for name in modules} <= sys.stdlib_module_names

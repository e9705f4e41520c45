"""Formulas are those that functions compute, numbers of theorems those of exhibits.yaml."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import exhibits
import numpy as np
import pandas as pd
import pytest

import dpol
from dpol.core.schemas import read_schemas
from dpol.experts.registry import REGISTRY
from dpol.labels import bounds
from dpol.labels.hard_pairs import hardness
from dpol.privacy.factorizations import decayed_sums
from dpol.studies.ledger.claims import compute, dartboard, experts, lazy
from dpol.studies.ledger.claims.core import _digits, stated

ROOT = Path(dpol.__file__).parent
CHECKOUT = Path(__file__).parents[2]
RECORD = CHECKOUT / "verify/runs/ledger/claims.csv"
STATEMENTS = compute.statements()

# ---- formulas ------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\d+(?:\.\d+)?|sqrt|log|exp|tanh|max|min|kept|[A-Za-zα-ω²³]|[-+*/^(),]")
_FUNCTIONS = {"sqrt", "log", "exp", "tanh", "max", "min"}


def evaluated(text: str, values: Mapping[str, float]) -> float:
    """Evaluate a formula in which neighbours are multiplied, and `log d` needs no brackets.

    >>> evaluated("2 η T² log d/(e^ε + 1)", {"η": 0.5, "T": 2, "d": math.e, "ε": 0.0})
    2.0
    """
    code, before = "", ""
    for token in _TOKEN.findall(text.replace("−", "-")):
        starts = token == "(" or (token.isalnum() and token not in "²³")
        bare = before in _FUNCTIONS and token != "("
        if starts and (before == ")" or (before.isalnum() and before not in _FUNCTIONS)):
            code += "*"
        shown = {"^": "**", "²": "**2", "³": "**3"}.get(token, token)
        code += f"({shown})" if bare else shown
        before = token
    known = {name: getattr(math, name) for name in ("sqrt", "log", "exp", "tanh", "e")}
    return float(eval(code, known | {"max": max, "min": min, **values}))


LETTERS = {
    **{"eta": "η", "alpha": "α", "epsilon": "ε", "delta": "δ", "often": "λ", "epochs": "E"},
    **{"n_hypotheses": "K", "n_pairs": "K", "n_rounds": "T"},
}
"""Letters of arguments that have a longer name in the code."""
WHOLE = {"T": (500, 9000), "n": (2, 60), "m": (2, 60), "d": (2, 60), "B": (2, 20), "E": (2, 60)}
WHOLE["K"] = (2, 20)
FURTHER: Mapping[Callable[..., Any], Callable[[Mapping[str, Any]], Mapping[str, float]]] = {
    bounds.lower_bound: lambda of: {"a": hardness(of["K"], of["T"], of["ε"])},
    bounds.lower_bound_of_tv: lambda of: {
        "m": min(math.expm1(of["ε"]) ** 2, 1) * math.exp(of["ε"])
    },
}
"""Letters of a formula that are no arguments, by function."""
BOUNDS: tuple[Callable[..., Any], ...] = (
    *(experts.ftpl_bound, experts.adabatch_bound, experts.meta_bound),
    *(lazy.mended_delta, dartboard.bound, bounds.kept_by_design),
    *(bounds.posterior_tv, bounds.posterior_risk, bounds.lower_bound, bounds.lower_bound_of_tv),
)


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.__name__)
def test_a_formula_is_what_its_function_computes(bound: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        given, letters = {}, {}
        for name in inspect.signature(bound).parameters:
            letter = LETTERS.get(name, name)
            drawn = rng.uniform(0.05, 2.0) if letter != "p" else np.exp(rng.uniform(-8, 0))
            given[name] = int(rng.integers(*WHOLE[letter])) if letter in WHOLE else float(drawn)
            letters[letter] = given[name]
        letters |= FURTHER.get(bound, lambda _: {})(letters)
        assert evaluated(stated(bound), letters) == pytest.approx(float(bound(**given)), rel=1e-9)


def test_where_factorised_windows_have_less_noise_than_fresh_noise() -> None:
    """A sum of w rounds is the difference of two released sums, or has noise of sqrt(w)."""
    rounds, window = map(int, re.findall(r"\d+", REGISTRY["noisy-max"].when))
    prefix = decayed_sums(rounds)
    for w in range(1, 40):
        noise = np.linalg.norm(prefix.left[w:] - prefix.left[:-w], axis=1).max()
        fresh = math.sqrt(w) / np.linalg.norm(prefix.right, axis=0).max()
        assert (noise < fresh) == (w >= window)


# ---- the record ----------------------------------------------------------------------------------


def test_the_record_has_the_statements_of_today() -> None:
    """Pages print texts of the record: `config/ledger.yaml`, then `verify/record.py`."""
    recorded = pd.read_csv(RECORD, keep_default_na=False)
    asked = [each for each in STATEMENTS.values() if not each.on_data]
    known = recorded[recorded["on_data"].astype(str) == "False"]
    assert known["statement"].tolist() == [each.place for each in asked]
    for row, each in zip(known.itertuples(), asked, strict=True):
        fails = row.verdict == "does not hold as stated"
        assert (row.paper, row.relation, row.ours) == (each.paper, each.relation, each.ours)
        assert row.ground == ("" if each.ours else each.ground), each.place
        for column, text in (
            *(("claim", each.statement), ("computed", each.computed), ("note", each.note)),
            ("counterexample", each.witness if fails else ""),
            *((name, (getattr(each, name) or "") * fails) for name in ("kind", "root", "mend")),
        ):
            template = re.sub(r"\\\{.*?\\\}", ".+?", re.escape(text))
            assert re.fullmatch(template, getattr(row, column), re.DOTALL), each.place
        for ends in filter(None, each.over.values()):
            assert " to ".join(map(_digits, ends)) in row.tried, each.place


def test_formulas_of_columns_are_true_of_recorded_rows() -> None:
    """A description that begins with columns and signs, such as a share of the possible gain."""
    checked = set()
    for file in ROOT.glob("studies/*/results.yaml"):
        for table, schema in read_schemas(file).items():
            for record in CHECKOUT.glob(f"verify/runs/*/{table}.csv"):
                rows = pd.read_csv(record)
                for name, column in schema.columns.items():
                    text = re.split("[;,]", column.meaning)[0].replace("−", "-")
                    used = {name, *re.findall(r"`(\w+)`", text)}
                    if re.search(r"` [-/+] `", text) and used <= {*rows}:
                        agrees = np.isclose(rows.eval(text.replace("`", "")), rows[name], atol=1e-4)
                        assert (agrees | rows[name].isna()).all(), (record, name)
                        checked.add(name)
    assert "gain_share" in checked


# ---- numbers of theorems -------------------------------------------------------------------------

_KINDS = ("Theorem", "Lemma", "Corollary", "Proposition", "Assumption", "Algorithm")


def numbered(text: str) -> list[str]:
    """Return the theorems, lemmas and algorithms that a text names, in its order."""
    found = exhibits.NAMED.finditer(" ".join(text.replace("#", "").split()))
    named = [name for each in found for name in exhibits.named(each[0])]
    return [name for name in named if name.startswith(_KINDS)]


def test_a_function_that_computes_a_theorem_names_it() -> None:
    for paper, listed in exhibits.exhibits().items():
        for exhibit in listed:
            for target in exhibit.computed if exhibit.name.startswith(_KINDS) else ():
                file = Path(str(import_module(target.partition(":")[0]).__file__))
                said = numbered(file.read_text(encoding="utf-8"))
                assert {*exhibits.named(exhibit.name)} & {*said}, f"{paper}: {exhibit.name}, {file}"


def test_every_statement_of_a_paper_has_a_number_of_that_paper() -> None:
    for paper, its in exhibits.numbered().items():
        there = {it for each in its for it in exhibits.named(each)}
        for each in STATEMENTS.values():
            if each.paper == compute.PAPERS[paper] and not each.ours:
                assert set(numbered(each.place)) <= there, each.place

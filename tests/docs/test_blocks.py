"""Pages and the notebook have what is written today, results stand nowhere else, records agree."""

from __future__ import annotations

import importlib
import json
import re
import sys
from typing import Any

import pages
import pandas as pd
import pytest
import tables
import verify

from dpol.core.errors import PIPELINE
from dpol.studies.ledger.claims.compute import statements
from dpol.studies.ledger.claims.core import _digits
from pipeline import ROOT, run, succeed
from run_notebook import read

TEXTS = {name: pages.read(name) for name in pages.tracked("*.md")}
BLOCKS = {
    name: [(mark[2], mark[3]) for mark in pages.BLOCK.finditer(text)]
    for name, text in TEXTS.items()
}
"""The file and the function or table of each block, by page."""
FILES = {file for blocks in BLOCKS.values() for file, _ in blocks}


def test_no_page_is_stale() -> None:
    stale = [name for name, text in pages.all_written().items() if pages.read(name) != text]
    assert stale == [], "run make pages"


def test_block_and_function_name_each_other() -> None:
    """The docstring of a function, or the entry of a table, has the page that has its block."""
    on_pages = {(name, *it) for name, blocks in BLOCKS.items() for it in blocks}
    named = {(of["page"], "tables.yaml", name) for name, of in tables.specs().items()}
    for file in FILES - {"tables.yaml"}:
        module = importlib.import_module(file.removesuffix(".py"))
        for function, value in vars(module).items():
            path, _, about = (getattr(value, "__doc__", None) or "").partition(": ")
            if path in TEXTS and about and value.__module__ == module.__name__:
                named.add((path, file, function))
    assert on_pages == named


def test_every_mark_is_of_a_block() -> None:
    for name, page in TEXTS.items():
        assert page.count("<!-- written by") == len(BLOCKS[name]), name


# ---- records -------------------------------------------------------------------------------------


def test_the_page_of_benchmarks_shows_the_last_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tables.ROOT / "benchmarks"
    monkeypatch.syspath_prepend(folder)
    found = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    made = importlib.import_module("run").page(found)
    assert (folder / "results.md").read_text(encoding="utf-8") == made


def test_the_record_has_the_statements_of_today() -> None:
    """Pages print texts of the record: `config/ledger.yaml`, then `verify/record.py`."""
    recorded = pd.read_csv(tables.ROOT / "verify/runs/ledger/claims.csv", keep_default_na=False)
    asked = [each for each in statements().values() if not each.on_data]
    known = recorded[recorded["on_data"].astype(str) == "False"]
    assert known["statement"].tolist() == [each.place for each in asked]
    expected = {key: row for name, rows in verify.read_expected().items() if "ledger" in name
                for key, row in rows.items()}  # fmt: skip
    for row in recorded.itertuples():
        numbers = expected[f"{row.paper}, {row.statement}, {row.claim}"]
        found = float(row.claimed), float(row.measured)
        assert found == pytest.approx((numbers["claimed"], numbers["measured"]), rel=1e-6)
        assert row.verdict == numbers["verdict"]
    for row, each in zip(known.itertuples(), asked, strict=True):
        fails = row.verdict == "does not hold as stated"
        of_row = row.paper, row.relation, row.ground
        assert of_row == (each.paper, each.relation, each.ground), each.place
        for column, text in (
            *(("claim", each.statement), ("computed", each.computed), ("note", each.note)),
            ("counterexample", each.witness if fails else ""),
            *((name, (getattr(each, name) or "") * fails) for name in ("kind", "root", "mend")),
        ):
            template = re.sub(r"\\\{.*?\\\}", ".+?", re.escape(text))
            assert re.fullmatch(template, getattr(row, column), re.DOTALL), each.place
        for ends in filter(None, each.over.values()):
            assert " to ".join(map(_digits, ends)) in row.tried, each.place


# ---- the notebook --------------------------------------------------------------------------------


def told(notebook: dict[str, Any]) -> list[Any]:
    """Return the outputs; pictures, whose bytes depend on the version of Matplotlib, as a word."""
    outputs = [it for cell in notebook["cells"] for it in cell.get("outputs", ())]
    for it in outputs:
        if "image/png" in it.get("data", {}):
            it["data"]["image/png"] = "a picture"
    return outputs


def test_the_notebook_holds_the_outputs_of_a_run_without_the_pipeline() -> None:
    missing = sorted(PIPELINE - {"matplotlib"})
    code = f"import json, sys; sys.modules |= dict.fromkeys({missing}); "
    code += "from run_notebook import executed, read; print(json.dumps(executed(read())))"
    printed = succeed(run(sys.executable, "-W", "error", "-c", code, folder=ROOT / "tests/helpers"))
    assert told(json.loads(printed)) == told(read()), "run make pages"
    assert "a picture" in str(told(read()))

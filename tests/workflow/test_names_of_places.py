"""A table whose places have hostile names: its run and its page."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import yaml

from dpol.core.words import LONGEST
from pipeline import run, succeed

MARKUP = "\"'></script><script>alert(1)</script> {{x}} {y} $z$ \\input{q} a|b *c* 50% #1 &amp;\nd"
"""The name of the fullest place, which the answer, the page, tables and figures show."""
NAMES = [
    *(MARKUP, "<script>alert(1)</script>", "<!--", "]]>", "a & b &amp; c", "a'b\"c", "a|b|c"),
    *("`rm -rf`", "$(ls) $x_y$", "*bold* _it_ [l](http://x)", "\\input{x} \\% {y}", "--help"),
    *("{{ place }} {% x %}", "{wildcard}", "%s %d {0}", "50% #1 ~ ^", "=1+1", "@x;DROP TABLE"),
    *("../../etc/passwd", "C:\\temp\\n", "nan", "NULL", "true", "007", "1e5", "2020-01-01", "-"),
    *(
        "שלום",
        "مستشفى",
        "東京 病院",
        "अस्पताल",
        "e\u0301 é",
        "👩‍👩‍👧‍👦",
        "zero\u200bwidth",
        "\ufeffbom",
    ),
    *("co,mma;semi", "new\nline", "x" * 10_000, "bi\u202edi", "\u2066iso\u2069", "a\x1b[31mred"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the table."""
    here, rng = tmp_path_factory.mktemp("names"), np.random.default_rng(1)
    rows = [
        (name, day.date(), rng.binomial(200 + 3 * i, 0.95 - 0.02 * i), 200 + 3 * i)
        for i, name in enumerate(NAMES)
        for day in pd.date_range("2023-01-02", periods=20, freq="7D")
    ]
    columns = {"entity": "place", "period": "week", "count": "patients", "capacity": "beds"}
    pd.DataFrame(rows, columns=[*columns.values()]).to_csv(here / "t.csv", index=False)
    options = [word for key, name in columns.items() for word in (f"--{key}", name)]
    said = dpol(here, "new", "dataset", "t.csv", *options)
    assert max(map(len, said.splitlines())) < 10 * LONGEST
    config = yaml.safe_load((here / "t.yaml").read_text("utf-8"))
    config |= {"privacy": {"levels": [4]}, "replicates": 10}
    config["suites"] = {"local": {"noises": ["capacity"], "algorithms": ["discounted-mean"]}}
    (here / "t.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    dpol(here, "run", "t.yaml", "--cores", "2")
    return here


def dpol(folder: Path, *words: str) -> str:
    said = succeed(run(sys.executable, "-m", "dpol", *words, folder=folder))
    assert "Warning" not in said, "as matplotlib gives of scripts that its font lacks"
    assert not set(said) & {"\u202e", "\u2066", "\x1b"}
    return said


@pytest.mark.workflow
def test_no_name_of_a_place_is_read_as_markup(folder: Path) -> None:
    results = folder / "results/t"
    for path in results.rglob("*.svg"):
        ElementTree.fromstring(path.read_text("utf-8"))
    for path in [*results.rglob("*.html"), *results.rglob("*.svg")]:
        assert "<script>alert" not in path.read_text("utf-8"), path
    assert "</script><script>" not in (results / "report/index.html").read_text("utf-8")
    lines = (results / "tables/answer.md").read_text("utf-8").replace(r"\|", "").splitlines()
    assert len({line.count("|") for line in lines if line.startswith("|")}) == 1
    assert r"\input" not in (results / "tables/answer.tex").read_text("utf-8")
    with (results / "tables/answer.csv").open(encoding="utf-8", newline="") as file:
        assert any(MARKUP in cell for row in csv.reader(file) for cell in row)

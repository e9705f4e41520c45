"""Runs of one's own: on the examples, on tables with hidden counts or hostile names, with a rival.

No raw count leaves the folder of a run, and `dpol.read_table` makes the same stream.
"""

from __future__ import annotations

import csv
import json
import re
import runpy
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import yaml

import dpol
from code_blocks import blocks
from dpol.core.words import LONGEST
from dpol.data.stream import PUBLIC, read_stream
from dpol.report.door import disagreements
from paper_run import SUITES
from pipeline import ROOT, SMALL, TEST, run, snakemake, succeed, write_config, written_as_before
from plugins.conftest import install
from report.run_by_hand import checked_crate
from streams_by_hand import assert_same, streams_of_config

pytestmark = pytest.mark.workflow
EXAMPLES = ROOT / "data/examples"
PAGE = ROOT / "docs/how-to/add-dataset.md"


def test_example_tables_are_those_of_their_script(tmp_path: Path) -> None:
    runpy.run_path(str(EXAMPLES / "make_examples.py"))["write_examples"](tmp_path)
    assert (tmp_path / "shelters.csv").read_text() == (EXAMPLES / "shelters.csv").read_text()
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "clicks.parquet"), pd.read_parquet(EXAMPLES / "clicks.parquet")
    )
    assert sum(path.stat().st_size for path in EXAMPLES.iterdir()) < 100_000


def test_a_table_of_gains(tmp_path: Path) -> None:
    """The config that the page prints is run, with fewer replicates and levels.

    A table whose content changes is read again though it is older than the results.
    """
    own = tmp_path / "data/examples/clicks.parquet"
    own.parent.mkdir(parents=True)
    shutil.copy(EXAMPLES / own.name, own)
    (printed,) = (block.code for block in blocks(PAGE) if block.file == "clicks.yaml")
    levels = {"levels": [float("inf"), 1]}
    write_config(tmp_path, yaml.safe_load(printed), replicates=3, privacy=levels)
    succeed(snakemake(tmp_path, "results/clicks/tables/privacy.md"))
    table = pd.read_parquet(EXAMPLES / "clicks.parquet")
    results = tmp_path / "results/clicks"
    stream = read_stream(results / "streams/articles.parquet")
    assert stream.entities == tuple(table.columns[1:])
    assert stream.periods.astype(str).tolist() == table["day"].tolist()
    np.testing.assert_array_equal(stream.gains, table.iloc[:, 1:])
    summary = pd.read_parquet(results / "summary.parquet")
    assert set(summary["unit"]) == {"one round"}
    assert set(summary[summary["model"] != "none"]["sensitivity"]) == {0.0070711}
    noisy = summary[(summary["mu"] == 1) & (summary["model"] != "none")].set_index("algorithm")
    assert 0 < noisy["guaranteed_mu"].pop("l2p") < 1, "more privacy would not gain more"
    np.testing.assert_allclose(noisy["guaranteed_mu"].drop("l2p"), 1.0)
    shown = (results / "tables/privacy.md").read_text()
    assert "Protected: one round. Adjacent inputs: two streams that" in shown
    assert "person" not in shown
    played = [log.read_text() for log in (results / "logs/games").rglob("*.log")]
    for name in ("tree-ftpl-min-noise", "l2p"):
        assert any(f" {name}, rounds: 120 done in " in text for text in played)
    with written_as_before(own):
        table.replace(table.iloc[0, 1], 0.001).to_parquet(own)
    planned = succeed(snakemake(tmp_path, "streams", "--dry-run"))
    assert re.findall(r"^(\w+) +\d+$", planned, re.M) == ["build_stream", "streams", "total"]


# ---- hidden counts ----

COUNTS = {"A": "27 27 27 3 3 3 3 3", "B": "<5 <5 <5 <5 <5 <5 <5 <5", "C": "1 1 1 1 1 1 1 1"}
BEDS = {"A": 30, "B": 10, "C": 30}


def test_hidden_counts_are_told_of_and_raw_counts_stay_here(tmp_path: Path) -> None:
    """The hidden B is the best of five weeks.

    Last week's choice finds it at once, the leader of all weeks only later.
    """
    days = pd.date_range("2021-01-03", periods=8, freq="7D").strftime("%Y-%m-%d")
    rows = [
        (town, day, count, BEDS[town])
        for town, line in COUNTS.items()
        for day, count in zip(days, line.split(), strict=True)
    ]
    table = pd.DataFrame(rows, columns=["town", "week", "sick", "beds"])
    table.to_csv(tmp_path / "towns.csv", index=False)
    dataset = {
        "source": {"kind": "local", "file": "towns.csv"},
        "columns": {"entity": "town", "period": "week", "count": "sick", "capacity": "beds"},
        "cleaning": {"entities": "all", "suppressed_markers": ["<5"], "suppressed_value": 4},
    }
    config = {
        "run": "towns",
        "dataset": dataset,
        "streams": {"all": {"groups": ["all"]}},
        "privacy": {"levels": [float("inf")]},
        "suites": {"local": {"noises": ["capacity"], "algorithms": ["persistence", "rw-ftpl"]}},
        "replicates": 20,
    }
    write_config(tmp_path, TEST | config)
    warning = "This folder holds your raw counts. Share nothing of it."
    assert f"results/towns: {warning}" in succeed(snakemake(tmp_path))

    results = tmp_path / "results/towns"
    standings = pd.read_parquet(results / "standings.parquet").set_index("algorithm")
    assert standings["best"].to_dict() == {"persistence": True, "rw-ftpl": False}
    assert not standings.loc["rw-ftpl", "not_told_apart"]
    assert disagreements(results) == []
    report = json.loads((results / "data/cleaning.json").read_text())
    assert report["streams"][0]["unmeasured"]["periods"] == 5
    assert any("nobody measured the best number" in text for text in report["warnings"])
    summary = pd.read_parquet(results / "summary.parquet")
    assert set(summary["unmeasured_periods"]) == {5}

    assert warning in (results / "report/index.html").read_text()
    described = {node["@id"]: node for node in checked_crate(results)}["./"]["description"]
    assert described.endswith(warning)
    assert not (results / "replay.parquet").exists()


def test_the_stream_of_a_config_is_that_of_a_run(tmp_path: Path) -> None:
    file, path = ROOT / "config/config.yaml", "results/central-texas/streams/CTX.parquet"
    succeed(snakemake(tmp_path, path, config=file))
    made, (own,) = dpol.read_stream(tmp_path / path), streams_of_config(file)
    # No file of a run says whether everyone may see its table; its config does.
    assert_same(own, replace(made, provenance=made.provenance | {PUBLIC: True}))
    assert own.stay == made.stay


# ---- hostile names ----

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


def run_dpol(folder: Path, *words: str) -> str:
    said = succeed(run(sys.executable, "-m", "dpol", *words, folder=folder))
    assert "Warning" not in said, "as matplotlib gives of scripts that its font lacks"
    assert not set(said) & {"\u202e", "\u2066", "\x1b"}
    return said


def test_no_name_of_a_place_is_read_as_markup(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [
        (name, day.date(), rng.binomial(200 + 3 * i, 0.95 - 0.02 * i), 200 + 3 * i)
        for i, name in enumerate(NAMES)
        for day in pd.date_range("2023-01-02", periods=20, freq="7D")
    ]
    columns = {"entity": "place", "period": "week", "count": "patients", "capacity": "beds"}
    pd.DataFrame(rows, columns=[*columns.values()]).to_csv(tmp_path / "t.csv", index=False)
    options = [word for key, name in columns.items() for word in (f"--{key}", name)]
    said = run_dpol(tmp_path, "new", "dataset", "t.csv", *options)
    assert max(map(len, said.splitlines())) < 10 * LONGEST
    config = yaml.safe_load((tmp_path / "t.yaml").read_text("utf-8"))
    config |= {"privacy": {"levels": [4]}, "replicates": 10}
    config["suites"] = {"local": {"noises": ["capacity"], "algorithms": ["discounted-mean"]}}
    (tmp_path / "t.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    run_dpol(tmp_path, "run", "t.yaml", "--cores", "2")
    results = tmp_path / "results/t"
    for path in results.rglob("*.svg"):
        ElementTree.fromstring(path.read_text("utf-8"))
    for path in [*results.rglob("*.html"), *results.rglob("*.svg")]:
        assert "<script>alert" not in path.read_text("utf-8"), path
    assert "</script><script>" not in (results / "report/index.html").read_text("utf-8")
    lines = (results / "tables/league.md").read_text("utf-8").replace(r"\|", "").splitlines()
    assert len({line.count("|") for line in lines if line.startswith("|")}) == 1
    assert r"\input" not in (results / "tables/league.tex").read_text("utf-8")
    with (results / "tables/league.csv").open(encoding="utf-8", newline="") as file:
        assert any(MARKUP in cell for row in csv.reader(file) for cell in row)


# ---- an algorithm of another package ----


def test_a_rival_is_beside_the_papers_algorithms_by_config_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Table 2 has its row and the first figure of the page its line, in place of RW-FTPL's."""
    packages = tmp_path / "packages"
    packages.mkdir()
    install(packages, "adalg")
    monkeypatch.setenv("PYTHONPATH", str(packages))
    games = {key: SMALL[key] for key in ("run", "seed", "dataset", "privacy")}
    suites = SUITES | {"mine": {"algorithms": ["adalg:ForgetfulLeader", "persistence"]}}
    more = {"streams": {"A": {"groups": ["A"]}}, "suites": suites, "replicates": 3}
    write_config(tmp_path, games, **more)
    succeed(snakemake(tmp_path))
    results = tmp_path / "results/small"
    said = "ForgetfulLeader, not in the paper"
    rows = pd.read_csv(results / "tables/table-2.csv").query("column == 'ForgetfulLeader'")
    summary = pd.read_parquet(results / "summary.parquet").query("algorithm == 'ForgetfulLeader'")
    assert rows["mean_gain"].tolist() == pytest.approx(summary["mean_gain"].tolist())
    page = (results / "report/index.html").read_text()
    (read,) = re.findall(r'id="answer-data">(.*?)</script>', page)
    names = [it["name"] for it in json.loads(read)["panels"][0]["lines"]]
    assert names[:2] in (["RW-Meta", "ForgetfulLeader"], ["RW-Meta", "persistence"])
    assert said in page, "the table of the page"

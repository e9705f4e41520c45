"""A whole run made by hand: small files of every kind that the page is made of."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd

from claims_by_hand import claim_by_hand, ledger_of
from dpol.config.models import Config
from dpol.report.page import build_page
from dpol.report.provenance import Provenance, Stage
from dpol.show.table import Entry, Group, Section, TextTable, to_html
from dpol.studies.claims.table import claims_table
from dpol.studies.hospitals.average_gain import as_text, render_csv
from tables_by_hand import LEVELS, STREAM, build
from tables_by_hand import rows as summary_rows

ODD = "a < b & \"c\" <script>alert('d')</script>"

# Every image has the same ids, as those of matplotlib do.
SVG = """<?xml version="1.0" encoding="utf-8" standalone="no"?>
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="72pt" height="36pt" viewBox="0 0 72 36">
 <metadata><rdf:RDF xmlns:cc="http://creativecommons.org/ns#">by hand</rdf:RDF></metadata>
 <defs><style type="text/css">*{stroke-linejoin: round}</style></defs>
 <g id="figure_1"><!-- words -->
  <defs><path id="glyph-1" d="M 0 0"/><clipPath id="clip1"><rect/></clipPath></defs>
  <use xlink:href="#glyph-1"/><path clip-path="url(#clip1)" d="M 1 1"/>
 </g>
</svg>
"""

STUDIES: dict[str, Any] = {
    "batching": {"n_experts": [2], "mus": [1]},
    "lazy": {"n_rounds": [10], "n_experts": [2], "epsilons": [1]},
    "convex": {"n_rounds": [10], "dimensions": [2], "epsilons": [1]},
    "labels": {"patients_per_week": 1, "sweeps": {"rounds": [10]}},
    "audits": {},
    "comparison": {
        "paper": {"algorithm": "rw-meta", "noise": "isotropic", "learners": "ridge"},
        "ours": {"algorithm": "rw-meta", "noise": "capacity", "learners": "ridge"},
    },
}
FIGURES = (
    *("cumulative-gain", "amplification", "lazy-rates", "lazy-regret", "convex-regret"),
    *("labels-risk", "labels-selection", "labels-hospitals"),
    *("comparison", "audit"),
)
TABLES = (
    *("amplification", "batching", "lazy-regret", "convex-regret", "labels"),
    *("comparison", "ablation"),
)
CLAIMS = (
    claim_by_hand("One", "Theorem 1", "is 2 at most", "by hand", 2.0, "<=", 1.5),
    claim_by_hand("One", "Theorem 2", "is 9 at most", "by hand", 9.0, "<=", 3.0),
    claim_by_hand("One", "Theorem 3", ODD, "by hand", 1.0, "<=", 3.0, witness="n = 2"),
    claim_by_hand(
        "Two", "Theorem 4", "ours", "by hand", 1.0, "<=", 3.0, ours=True, witness="n = 2"
    ),
    claim_by_hand("Two", "Lemma 5", "is 1", "by hand", 1.0, "=", 1.0),
)
AUDITS = (
    {"mechanism": "noise", "variant": "isotropic", "claimed": 1.0, "lower_bound": 0.9},
    {"mechanism": "response", "variant": ODD, "claimed": 1.0, "lower_bound": 1.25},
)
CLEANING = {
    "provenance": {
        "file": "table.csv.gz",
        "sha256": "ab" * 32,
        "simulated": False,
        "fetched": {"retrieved": "2024-01-31T12:00:00+00:00", "url": "https://example.org/t.csv"},
    },
    "rows_read": 4000,
    "rows_outside": 12,
    "rules": {
        "exact_duplicates": "repeated rows dropped",
        "zero_counts": "missing counts set to 0",
    },
    "selections": {"all": "all entities", "counts": "those with enough cases"},
    "streams": [
        {
            "stream": "nm",
            "cells": {"exact_duplicates": 0, "zero_counts": 7},
            "dropped": [{"entity": "H9", "name": ODD, "reason": "0 cases"}],
            "entities": 24,
            "periods": 148,
            "selection": "counts",
            "missing_periods": ["1 between 2021-01-15 and 2021-01-29"],
            "sparse_periods": ["2021-02-03 (1 of 24 entities)"],
            "smallest_capacity": 4.5,
            "largest_density": 0.75,
        }
    ],
}
PROVENANCE = Provenance(
    "config.yaml",
    f"run: hand  # {ODD}\n",
    (("Python", "3.11.0"), ("dpol", "0.1.0")),
    "0123abc",
    (Stage("run_suite", 2, 10.0, 8.0, 150.0), Stage("clean_panel", 1, 12.5, 2.0, 90.0)),
)


def config(*studies: str, **changes: Any) -> Config:
    """The config of the run, with the studies named."""
    columns = {"entity": "e", "period": "p", "count": "c", "capacity": "k", "group": "g"}
    return Config.model_validate(
        {
            "run": "hand",
            "seed": 7,
            "dataset": {"source": {"kind": "local", "file": "t.csv"}, "columns": columns},
            "streams": {"nm": STREAM.model_dump()},
            "privacy": {"levels": LEVELS},
            "suites": {"local": {"algorithms": ["rw-meta"]}},
            "report": {"algorithms": ["rw-meta", "tree-ftpl-min-noise", "follow-the-leader"]},
        }
        | {name: STUDIES[name] for name in studies}
        | changes
    )


def claims() -> pd.DataFrame:
    return ledger_of(*CLAIMS)


def audits() -> pd.DataFrame:
    shared = {
        "adjacency": "one person elsewhere",
        "taken_as_public": "",
        "unit": "one person in one round",
        "parameter": "mu",
        "delta": 0.0,
        "confidence": 0.95,
        "runs": 3000,
        "method": "event",
        "code": "dpol.noise.privatize",
        "inputs": "two hospitals",
        "statistic": "an event",
        "recorded": 1.0,
    }
    rows = [shared | audit for audit in AUDITS]
    frame = pd.DataFrame(rows)
    broken = frame["lower_bound"] > frame["claimed"]
    return frame.assign(verdict=broken.map({True: "violated", False: "consistent"}))


def write_run(folder: Path) -> None:
    """All files that a page with every section is made of."""
    for name in ("tables", "figures", "data"):
        (folder / name).mkdir(parents=True)
    pd.DataFrame(summary_rows()).to_parquet(folder / "summary.parquet")
    claims().to_parquet(folder / "claims.parquet")
    audits().to_parquet(folder / "audits.parquet")
    (folder / "data/cleaning.json").write_text(json.dumps(CLEANING))
    for name in FIGURES:
        (folder / f"figures/{name}.svg").write_text(SVG)
    group = Group("", (("μ = 1", (Entry(ODD, ("note",)),)),))
    for name in TABLES:
        table = TextTable(f"Of {name}", "same", ("stream", "privacy"), ("gain",),
                          (Section("New Mexico", "n = 2", (group,)),), (ODD,))  # fmt: skip
        (folder / f"tables/{name}.html").write_text(to_html(table))
    (folder / "tables/claims.html").write_text(to_html(claims_table(claims())))
    (folder / "tables/average-gain.html").write_text(to_html(as_text(build())))
    (folder / "tables/average-gain.csv").write_text(render_csv(build()))


def page(folder: Path, *studies: str, **changes: Any) -> str:
    return build_page(folder, config(*studies, **changes), PROVENANCE)


class Elements(HTMLParser):
    """Every element with its attributes and the text right below it, in order."""

    VOID = frozenset({"meta", "link", "br", "img", "input", "hr"})

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str], list[str]]] = []
        self._open: list[list[str]] = []
        self.feed(markup)
        self.close()
        assert self._open == [], "an element is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = (tag, {name: value or "" for name, value in attrs}, [])
        self.found.append(element)
        if tag not in self.VOID:
            self._open.append([tag])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}, []))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == [tag]

    def handle_data(self, data: str) -> None:
        if self.found:
            self.found[-1][2].append(data)

    def of(self, *tags: str) -> list[tuple[dict[str, str], str]]:
        """Attributes and text of all elements of these kinds."""
        return [(attrs, " ".join("".join(text).split())) for tag, attrs, text in self.found
                if tag in tags]  # fmt: skip

    def values(self, name: str) -> list[str]:
        """All values of an attribute."""
        return [attrs[name] for _, attrs, _ in self.found if name in attrs]

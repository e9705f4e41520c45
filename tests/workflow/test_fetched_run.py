"""The first paper's config, from an unsteady server to the page, and from the same table on disk.

The table is five weeks of the real one, all its 127 columns, where `../shared/data` has them. Else
it is simulated, in the columns that the config names.
"""

from __future__ import annotations

import csv
import gzip
import io
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pandas as pd
import pytest
import yaml

from dpol.data.simulator import ALL_BEDS, ALL_COVID, HIDDEN, MISSING, simulate_hospitals
from dpol.data.table import write_raw_table
from pipeline import ROOT, call_copy, copy_code, succeed, write_config

PAPER: dict[str, Any] = yaml.safe_load((ROOT / "config/paper.yaml").read_text("utf-8"))
REAL = ROOT.parent / "shared/data/hhs-verbatim-nm-pa-ca-2022-09-23--2022-10-21.csv.gz"
ORDER = ["collection_week", "hospital_pk"]
LEFT_OUT = {"batching", "lazy", "convex", "labels", "audits", "claims"}
"""Studies of the config that read no table."""
SILENCE = 3
"""Seconds of silence that the copy of dpol bears, in place of 60."""
pytestmark = pytest.mark.workflow


def hospitals() -> pd.DataFrame:
    """Return the table as text."""
    if REAL.exists():
        table = pd.read_csv(REAL, dtype=str, keep_default_na=False)
    else:
        table = simulate_hospitals({"NM": 8, "PA": 12, "CA": 16}, 20, date(2020, 8, 9), seed=3)
        for average in (ALL_COVID, ALL_BEDS):
            stem = average.removesuffix("avg")
            table[f"{stem}sum"] = [
                text if text in (HIDDEN, *MISSING) else f"{7 * float(text):g}"
                for text in table[average]
            ]
            table[f"{stem}coverage"] = ["0" if text in MISSING else "7" for text in table[average]]
    return table.sort_values(ORDER, kind="stable", ignore_index=True)


@dataclass
class Socrata:
    """A server that gives a third of its rows at a time, and fails three times.

    It answers its first request with status 500, cuts its second answer, and falls silent in the
    middle of its fifth.
    """

    table: pd.DataFrame
    asked: list[dict[str, str]] = field(default_factory=list)
    fates: list[str] = field(default_factory=list)
    url: str = ""

    @property
    def most(self) -> int:
        """Most rows that it gives at a time."""
        return len(self.table) // 3

    def page(self, asked: dict[str, str]) -> bytes:
        """Return the rows that are asked for, as CSV with all texts in quotes."""
        first = int(asked.get("$offset", 0))
        end = first + min(int(asked["$limit"]), self.most)
        rows = self.table[asked["$select"].split(",")][first:end]
        return rows.to_csv(index=False, quoting=csv.QUOTE_ALL, lineterminator="\n").encode()


@pytest.fixture(scope="module")
def socrata() -> Iterator[Socrata]:
    """Run the server on a free port of this machine."""
    server, stopped = Socrata(hospitals()), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = dict(parse_qsl(urlsplit(self.path).query))
            fate = {1: "500", 2: "cut", 5: "silent"}.get(len(server.asked) + 1, "whole")
            server.asked.append(asked)
            server.fates.append(fate)
            body = server.page(asked)
            self.send_response(500 if fate == "500" else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if fate == "whole" else body[: len(body) // 2])
            if fate == "silent":
                self.wfile.flush()
                stopped.wait(10 * SILENCE)

        def log_message(self, *_: Any) -> None:
            """Write nothing to the terminal."""

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listener.serve_forever)
    thread.start()
    server.url = f"http://127.0.0.1:{listener.server_address[1]}/resource/anag-cw7u.csv"
    yield server
    stopped.set()
    listener.shutdown()
    listener.server_close()


def paper(run: str, source: dict[str, Any], weeks: pd.Series[str]) -> dict[str, Any]:
    """Return the paper's config with another source of its table.

    Columns and streams are the paper's, and so is the cleaning, except that 100 cases in 148 weeks
    are as many per week in these. There is one level of four, two suites of five, and 2 replicates
    of 100; studies that read no table are left out.
    """
    dataset = PAPER["dataset"]
    least = dataset["cleaning"]["min_total_cases"] * weeks.nunique() / 148
    changed = {
        "source": source,
        "periods": {"first": weeks.min(), "last": weeks.max()},
        "cleaning": {**dataset["cleaning"], "min_total_cases": round(least)},
    }
    return {
        **{key: value for key, value in PAPER.items() if key not in LEFT_OUT},
        "run": run,
        "dataset": {**dataset, **changed},
        "privacy": {"levels": [1]},
        "suites": {name: PAPER["suites"][name] for name in ("local", "central")},
        "replicates": 2,
    }


@pytest.fixture(scope="module")
def folder(socrata: Socrata, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the finished run `fetched`, and `local`: Table 2 of the same table on disk."""
    folder = tmp_path_factory.mktemp("paper")
    copy_code(folder)
    fetch = folder / "src/dpol/data/fetch.py"
    patient = fetch.read_text("utf-8")
    assert "\nSILENCE = 60 " in patient
    fetch.write_text(patient.replace("\nSILENCE = 60 ", f"\nSILENCE = {SILENCE} "), "utf-8")
    write_raw_table(socrata.table, folder / "table.csv.gz")
    web = PAPER["dataset"]["source"]
    endpoints = [{**endpoint, "url": socrata.url} for endpoint in web["endpoints"]]
    runs = {
        "fetched": ({**web, "endpoints": endpoints}, []),
        "local": ({"kind": "local", "file": "table.csv.gz"}, ["results/local/tables/table-2.csv"]),
    }
    for run, (source, wanted) in runs.items():
        write_config(folder, paper(run, source, socrata.table["collection_week"]))
        options = "--workflow-profile", "none", *wanted
        succeed(call_copy(folder, *options, no_proxy="127.0.0.1"))
    return folder


def test_a_table_arrives_whole_from_a_server_that_fails(socrata: Socrata, folder: Path) -> None:
    packed = (folder / PAPER["dataset"]["source"]["file"]).read_bytes()
    arrived = pd.read_csv(io.BytesIO(gzip.decompress(packed)), dtype=str, keep_default_na=False)
    asked = socrata.asked[0]["$select"].split(",")
    pd.testing.assert_frame_equal(arrived[asked], socrata.table[asked])
    assert {*arrived} == {*asked}
    assert PAPER["dataset"]["columns"]["count_days"]["sum"] in asked


def test_each_failure_is_answered_by_the_same_question(socrata: Socrata, folder: Path) -> None:
    assert folder.exists()
    offsets = [int(asked.get("$offset", 0)) for asked in socrata.asked]
    last = len(socrata.table) - 1
    step = socrata.most - 1
    pages = [*range(0, last, step), last]
    assert offsets == [0, 0, *pages[:2], pages[2], *pages[2:]]
    assert [fate for fate in socrata.fates if fate != "whole"] == ["500", "cut", "silent"]
    weeks = socrata.table["collection_week"]
    (where,) = {asked["$where"] for asked in socrata.asked}
    assert where == (
        "state in ('CA','NM','PA')"
        f" and collection_week >= '{weeks.min()}T00:00:00'"
        f" and collection_week <= '{weeks.max()}T00:00:00'"
    )
    (order,) = {asked["$order"] for asked in socrata.asked}
    assert order == ",".join([*ORDER, ":id"])


def test_the_page_and_table_2_are_those_of_the_same_table_on_disk(folder: Path) -> None:
    fetched, local = (folder / f"results/{run}" for run in ("fetched", "local"))
    assert "Table 2" in (fetched / "report/index.html").read_text("utf-8")
    table_2 = (fetched / "tables/table-2.csv").read_bytes()
    assert table_2 == (local / "tables/table-2.csv").read_bytes()
    played = pd.read_csv(io.BytesIO(table_2)).query("source == 'run'")
    assert {*played["stream"]} == {*PAPER["streams"]}
    assert (played["mean_gain"] > 0).all()
    for results in local.glob("*.parquet"):
        found, wanted = map(pd.read_parquet, (fetched / results.name, results))
        pd.testing.assert_frame_equal(found, wanted)

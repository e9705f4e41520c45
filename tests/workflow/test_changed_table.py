"""A table of gains or of the web whose content changes is read again, whatever its time.

That of a local table is in test_wrong_numbers.py.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

from dpol.core.files import write_json
from pipeline import SMALL, snakemake, succeed, write_config, written_as_before

pytestmark = pytest.mark.workflow

COUNTS = "id,week,beds,sick\n" + "".join(
    f"{it},2021-01-{day:02},90,{day + k}\n" for day in (3, 10, 17) for k, it in enumerate("abc")
)
GAINS = "x,y\n" + "0.5,0.25\n" * 4
KEYS = {key: SMALL[key] for key in ("run", "seed", "privacy", "replicates")}


MATRIX = {"kind": "gains", "file": "g.csv", "sensitivity": 1}
WEB = {
    "kind": "web",
    "file": "t.csv.gz",
    "endpoints": [{"kind": "file", "url": "http://127.0.0.1:9/t.csv"}],
}


def finished(folder: Path, source: dict[str, Any]) -> None:
    """The streams of a table, made by a real run."""
    columns = {"entity": "id", "period": "week", "count": "sick", "capacity": "beds"}
    counted = {"columns": columns, "cleaning": {"entities": "all"}}
    write_config(
        folder,
        KEYS,
        dataset={"source": source} | ({} if source["kind"] == "gains" else counted),
        streams={"all": {"groups": ["all"]}},
        suites={"local": {"algorithms": ["rw-ftpl"]}},
        report={"algorithms": ["rw-ftpl"]},
    )
    succeed(snakemake(folder, "streams"))


def planned(folder: Path) -> set[str]:
    """The rules that a run would start."""
    said = succeed(snakemake(folder, "streams", "--dry-run"))
    jobs = {*re.findall(r"^(\w+) +\d+$", said, re.M)}
    assert jobs or "Nothing to be done" in said
    return jobs - {"total", "streams"}


def test_a_changed_table_of_gains_is_read_again_though_it_is_older_than_the_results(
    tmp_path: Path,
) -> None:
    file = tmp_path / "g.csv"
    file.write_text(GAINS)
    finished(tmp_path, MATRIX)
    with written_as_before(file):
        file.write_text(GAINS.replace("0.25", "0.75"))
    assert planned(tmp_path) == {"build_stream"}


def test_a_fetched_table_may_be_gone_but_not_replaced_by_hand(tmp_path: Path) -> None:
    table = tmp_path / WEB["file"]
    table.write_bytes(gzip.compress(COUNTS.encode()))
    digest = hashlib.sha256(table.read_bytes()).hexdigest()
    write_json(f"{table}.provenance.json", {"sha256": digest, "query": None})
    finished(tmp_path, WEB)
    with written_as_before(table):
        table.write_bytes(gzip.compress(COUNTS.replace("3\n", "4\n").encode()))
    assert planned(tmp_path) == {"read_rows", "clean_stream"}
    table.unlink()
    assert planned(tmp_path) == set()

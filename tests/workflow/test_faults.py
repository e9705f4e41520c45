"""Bad input, a full disk, no network: the errors name the remedy, and nothing is lost."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from dpol.studies.registry import STUDIES
from pipeline import ROOT, fail, snakemake, succeed, write_config
from workflow.imports import plan_pages

WHOLE: dict[str, Any] = yaml.safe_load((ROOT / "verify/small.yaml").read_text())
# Without the other studies, whose results depend on nothing else in the config.
PLAIN = {key: value for key, value in WHOLE.items() if key not in STUDIES}
CONFIGS = sorted((ROOT / "config").glob("*.yaml"))

pytestmark = pytest.mark.workflow


def write_plain(folder: Path, **changes: Any) -> None:
    write_config(folder, PLAIN, **changes)


def test_every_config_can_be_planned(tmp_path: Path) -> None:
    """All in one dry run, each as a module of its own."""
    configs = {f"of_{it.stem}".replace("-", "_"): yaml.safe_load(it.read_text()) for it in CONFIGS}
    rules = "import json\ntold = {it.name: it.docstring for it in workflow.rules}\n"
    rules += 'json.dump(told, open("told.json", "w"))\n'
    plan_pages(tmp_path, rules, **{name: raw | {"run": name} for name, raw in configs.items()})
    told = json.loads((tmp_path / "told.json").read_text())
    assert len(told) >= 13 * len(CONFIGS)
    sentence = re.compile(r"\w.+?\.( Makes .+)?")
    silent = [name for name, it in told.items() if not sentence.fullmatch(it or "")]
    assert silent == [], "each rule says what it does"


@pytest.fixture
def small_disk(tmp_path: Path) -> Any:
    """A folder on a disk of 100 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a small disk can be mounted by root only")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_full_disk_is_told_and_leaves_no_half_file(small_disk: Path, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results/verify-small").symlink_to(small_disk)
    write_plain(tmp_path)
    done = snakemake(tmp_path)
    assert done.returncode != 0
    # Ours if a result met the full disk, Snakemake's if its own measurement of a job did.
    assert re.search("disk is full|No space left on device", done.stdout + done.stderr)
    for path in small_disk.rglob("*.parquet"):
        pd.read_parquet(path)


LOCAL = {"kind": "local", "file": "table.csv"}


def local_table(folder: Path, text: str, source: Any = LOCAL, **changes: Any) -> None:
    (folder / "table.csv").write_text(text)
    dataset = {
        "source": source,
        "columns": {"entity": "id", "period": "week", "count": "sick", "capacity": "beds"},
        "cleaning": {"min_total_cases": 0},
    }
    streams = {"all": {"groups": ["all"]}}
    write_plain(folder, dataset=dataset, streams=streams, **changes)


HEADER = "id,week,sick,beds\n"
GOOD = HEADER + "a,2021-01-01,1,10\nb,2021-01-01,2,10\na,2021-01-08,1,10\nb,2021-01-08,2,10\n"


def begun(folder: Path) -> set[str]:
    """Return the rules that left a log."""
    return {path.stem for path in (folder / "results/verify-small/logs").glob("*.log")}


def test_a_bad_table_is_told_before_the_long_studies_begin_and_is_left_alone(
    tmp_path: Path,
) -> None:
    text = GOOD.replace("a,2021-01-08,1,10", "a,2021-01-08,-1,10")
    local_table(tmp_path, text, lazy=WHOLE["lazy"])
    everything = fail(snakemake(tmp_path, "--cores", "1"))
    assert everything.count("error: table.csv: 1 cell cannot be used") == 1
    assert begun(tmp_path) == {"read_rows"}
    assert (tmp_path / "table.csv").read_text() == text


def test_unwritable_results_are_told(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("not a folder")
    write_config(tmp_path, PLAIN)
    assert "cannot write results/verify-small" in fail(snakemake(tmp_path))


WEB = {"kind": "web", "file": "data/raw/table.csv.gz"}
NOWHERE = "http://127.0.0.1:9/table.csv"


def test_without_network_the_fetch_says_what_to_do_and_that_works(tmp_path: Path) -> None:
    source = {**WEB, "endpoints": [{"kind": "file", "url": NOWHERE}]}
    local_table(tmp_path, GOOD, source, lazy=WHOLE["lazy"])
    said = fail(snakemake(tmp_path, "--cores", "1"))
    assert begun(tmp_path) == {"fetch_dataset"}
    assert said.count("place it at data/raw/table.csv.gz") == 1
    assert said.endswith("without a network: dpol run central-texas\n")
    placed = tmp_path / "data/raw/table.csv.gz"
    placed.parent.mkdir(parents=True, exist_ok=True)
    placed.write_bytes(gzip.compress(GOOD.encode()))
    succeed(snakemake(tmp_path, "results/verify-small/data/rows.parquet"))
    assert gzip.decompress(placed.read_bytes()) == GOOD.encode()

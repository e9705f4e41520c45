"""A German spreadsheet is refused with the keys to set, then played with them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dpol.data.stream import read_stream
from pipeline import SMALL, fail, snakemake, succeed, write_config

PLACES = {"Köln": 1200, "Ulm": 80, "Jena": 95}
WEEKS = [f"2020-W{week}" for week in (51, 52, 53)] + [f"2021-W0{week}" for week in range(1, 8)]
KEYS = {"delimiter": ";", "decimal": ",", "thousands": ".", "date": "YYYY-Www"}


def spreadsheet() -> str:
    """Half a person more each week, and a quarter of a bed."""
    lines = ["Ort;Woche;Fälle;Betten"]
    for t, week in enumerate(WEEKS):
        for place, beds in PLACES.items():
            texts = (f"{number:,}".translate(str.maketrans(".,", ",."))
                     for number in (5 + t / 2, beds + t / 4))  # fmt: skip
            lines.append(";".join([place, week, *texts]))
    return "\r\n".join([*lines, ""])


@pytest.mark.workflow
def test_a_semicolon_table_with_decimal_commas_and_iso_weeks_is_played(tmp_path: Path) -> None:
    (tmp_path / "kliniken.csv").write_bytes(spreadsheet().encode("utf-8-sig"))
    dataset = {
        "source": {"kind": "local", "file": "kliniken.csv"},
        "columns": {"entity": "Ort", "period": "Woche", "count": "Fälle", "capacity": "Betten"},
        "periods": {"align": "sunday"},
        "cleaning": {"min_total_cases": 10},
    }
    config = {key: SMALL[key] for key in ("run", "seed", "privacy")}
    config |= {
        "streams": {"all": {"groups": ["all"]}},
        "suites": {"local": {"algorithms": ["rw-ftpl"]}},
        "replicates": 2,
        "report": {"algorithms": ["rw-ftpl"], "envelope": "rw-ftpl"},
    }
    write_config(tmp_path, config, dataset=dataset)
    said = fail(snakemake(tmp_path, "data"))
    assert 'format:\n    delimiter: ";"\n    decimal: ","' in said
    write_config(tmp_path, config, dataset={**dataset, "format": KEYS})
    succeed(snakemake(tmp_path))
    stream = read_stream(tmp_path / "results/small/streams/all.parquet")
    t = np.arange(len(WEEKS))[:, None] / 4
    assert stream.capacity is not None
    np.testing.assert_array_equal(
        stream.capacity, np.array([PLACES[name] for name in stream.entities]) + t
    )
    np.testing.assert_array_equal(stream.gains, (5 + 2 * t) / stream.capacity)
    assert stream.periods[[0, -1]].astype(str).tolist() == ["2020-12-13", "2021-02-14"]
    (report,) = json.loads((tmp_path / "results/small/data/cleaning.json").read_text())["streams"]
    assert report["cells"]["aligned_rows"] == len(WEEKS) * len(PLACES)

"""Small streams with known numbers, and the streams of a config."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

import dpol
from dpol.data.stream import GainStream

FACTS: dict[str, Any] = {
    "label": "NM",
    "gains": [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]],
    "capacity": [[10.0, 20.0], [10.0, 5.0], [40.0, 20.0]],
    "entities": ("a", "b"),
    "periods": np.array(["2021-01-03", "2021-01-10", "2021-01-24"], "M8[D]"),
    "names": ("Hospital A", "Peña"),
    "provenance": {"file": "t.csv", "fetched": {"rows": 3, "sha256": "00"}},
}
SENSITIVITY = [0.5, 0.25, 2.0]


def stream(**changes: Any) -> GainStream:
    return GainStream(**{**FACTS, **changes})


def given_stream(**changes: Any) -> GainStream:
    return stream(**{"capacity": None, "given_sensitivity": SENSITIVITY, **changes})


def assert_same(one: GainStream, other: GainStream) -> None:
    """Assert that two streams are equal bit for bit."""
    for name in ("gains", "capacity", "given_sensitivity", "periods"):
        a, b = (np.array(getattr(stream, name)) for stream in (one, other))
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), name
    for name in ("label", "entities", "names", "gain_range", "count_sensitivity", "provenance"):
        assert getattr(one, name) == getattr(other, name), name


def streams_of_config(file: Path) -> list[GainStream]:
    """Return what `dpol.read_table` makes of a config's table, told what the config says."""
    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    dataset, privacy = config["dataset"], config["privacy"]
    columns = {key: name for key, name in dataset["columns"].items() if key != "titles"}
    blocks = {key: dataset[key] for key in ("read", "periods", "cleaning") if key in dataset}
    return [
        dpol.read_table(
            dataset["source"]["file"],
            **columns,
            **blocks,
            label=label,
            groups=stream["groups"],
            gain=config.get("gain"),
            count_sensitivity=privacy.get("count_sensitivity"),
            stay=privacy.get("unit", {}).get("weeks", 1),
            public=dataset.get("public", False),
        )
        for label, stream in config["streams"].items()
    ]

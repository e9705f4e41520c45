"""A small valid config, and messages about changes of it."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from dpol.config.experiment import parse_experiment
from dpol.core.errors import ConfigError

Raw = dict[str, Any]
Place = str | tuple[str | int, ...]

SMALL: Raw = yaml.safe_load("""
run: small
seed: 1
dataset:
  source: {kind: simulated, hospitals: {A: 5, B: 6}, weeks: 10}
  columns: {entity: hospital, period: week, group: state, count: patients, capacity: beds}
streams:
  one: {groups: [A]}
  both: {groups: [A, B]}
privacy:
  levels: [.inf, 0.25]
suites:
  noisy: {algorithms: [rw-ftpl, ridge]}
  trusted: {algorithms: [tree-ftpl-min-noise]}
  open: {algorithms: [follow-the-leader]}
report: {algorithms: [rw-ftpl, follow-the-leader]}
""")
WEB: Raw = {
    "kind": "web",
    "endpoints": [{"kind": "socrata", "url": "https://data.example/resource/abcd-1234.csv"}],
    "file": "data/raw/table.csv.gz",
}
LOCAL: Raw = {"kind": "local", "file": "table.parquet"}
GAINS: Raw = {
    "dataset": {"source": {"kind": "gains", "file": "gains.parquet", "sensitivity": 0.1}},
    "streams": {"all": {"groups": ["all"]}},
}
DELETED = object()


def parts(place: Place) -> tuple[str | int, ...]:
    """Return the keys and indices of a place such as a.b[0].c."""
    if isinstance(place, tuple):
        return place
    steps = re.findall(r"\[(\d+)\]|([^.\[\]]+)", place)
    return tuple(int(index) if index else name for index, name in steps)


def changed(*changes: Mapping[Any, object], of: Raw = SMALL) -> Raw:
    """Return a config with other values at some places; missing blocks are made."""
    raw = copy.deepcopy(of)
    for place, value in (item for change in changes for item in change.items()):
        *path, last = parts(place)
        inner: Any = raw
        for part in path:
            inner = inner.setdefault(part, {}) if isinstance(inner, dict) else inner[part]
        if value is DELETED:
            del inner[last]
        elif isinstance(inner, list) and last == len(inner):
            inner.append(copy.deepcopy(value))
        else:
            inner[last] = copy.deepcopy(value)
    return raw


def problems(*changes: Mapping[Any, object]) -> list[str]:
    """Return the lines between head and foot of the message about the changed config."""
    with pytest.raises(ConfigError) as caught:
        parse_experiment(changed(*changes), "my.yaml")
    head, *lines, foot = str(caught.value).splitlines()
    count = "1 problem" if len(lines) == 1 else f"{len(lines)} problems"
    assert head == f"my.yaml: {count}"
    assert foot == "The page Configs of the documentation explains every key."
    assert all(line.startswith("  ") for line in lines)
    return [line[2:] for line in lines]

"""How settings differ between two runs, or between two requests to a job."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

_BARE = re.compile(r'[^."]+')
"""A key that stands in a path as it is."""


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a config by dotted path; a list or an empty block is one value.

    >>> dict(flat({"streams": {"A.b": {"groups": ["A"]}}}))
    {'streams."A.b".groups': ['A']}
    """
    if not isinstance(value, dict) or not value:
        yield path, value
        return
    for key, item in value.items():
        name = str(key) if _BARE.fullmatch(str(key)) else json.dumps(str(key), ensure_ascii=False)
        yield from flat(item, f"{path}.{name}" if path else name)


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yield the entries that differ, in the order of the old ones; of lists, the items.

    >>> [*differences({"seed": 1, "runs": ["a"]}, {"seed": 2, "runs": ["a", "b"]})]
    ['seed: 1 → 2', 'runs: + b']
    """
    for name in {**old, **new}:
        one, two = (values.get(name, "not set") for values in (old, new))
        if isinstance(one, list) and isinstance(two, list):
            gone = [f"- {_shown(item)}" for item in one if item not in two]
            if changes := [*gone, *(f"+ {_shown(item)}" for item in two if item not in one)]:
                yield f"{name}: {', '.join(changes)}"
        elif one != two:
            yield f"{name}: {_shown(one)} → {_shown(two)}"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    flow = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=math.inf)
    return flow.removesuffix("...\n").strip()

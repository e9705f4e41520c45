"""Rows of result tables from runs whose data are drawn for each replicate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpol.core.intervals import standard_error


def joined_row(parts: Sequence[Mapping[str, Any]], means: Mapping[str, str]) -> dict[str, Any]:
    """Return a row of a result table from the same row of several groups of replicates.

    An array has a number for each replicate, and the row has its mean. Where other numbers differ,
    as guarantees on random classes may, the row has the largest.

    Args:
        parts: the columns of each group.
        means: arrays to keep whole, each with the column of its mean. The first of them has the
            column `standard_error`.

    >>> part = {"T": 9, "runs": np.array([1.0]), "left": np.array([4.0])}
    >>> joined_row([part, {**part, "T": 10, "runs": np.array([3.0])}], {"runs": "mean"})
    {'T': 10, 'replicates': 2, 'runs': [1.0, 3.0], 'mean': 2.0, 'standard_error': 1.0, 'left': 4.0}
    """
    row = dict[str, Any]()
    for name in parts[0]:
        values = [part[name] for part in parts]
        if not isinstance(values[0], np.ndarray):
            row[name] = max(values) if isinstance(values[0], float | int) else values[0]
            continue
        runs = np.concatenate(values)
        row["replicates"] = len(runs)
        if name not in means:
            row[name] = float(runs.mean())
            continue
        row |= {name: runs.tolist(), means[name]: float(runs.mean())}
        if name == next(iter(means)):
            row["standard_error"] = float(standard_error(runs))
    return row

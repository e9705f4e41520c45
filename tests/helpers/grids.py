"""Thinned grids of settings."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any


def each_and_corners(*axes: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return all corners, and points that together have every value of every axis."""
    corners = itertools.product(*((axis[0], axis[-1]) for axis in axes))
    diagonal = (
        tuple(axis[i % len(axis)] for axis in axes) for i in range(max(len(axis) for axis in axes))
    )
    return list(dict.fromkeys([*corners, *diagonal]))

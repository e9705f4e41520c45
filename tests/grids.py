"""Grids of settings, thinned."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any


def each_and_corners(*axes: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Points with every value of every axis, and all corners: the first and last values."""
    corners = itertools.product(*((axis[0], axis[-1]) for axis in axes))
    diagonal = (
        tuple(axis[i % len(axis)] for axis in axes) for i in range(max(len(axis) for axis in axes))
    )
    return list(dict.fromkeys([*corners, *diagonal]))

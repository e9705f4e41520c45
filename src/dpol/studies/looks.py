"""Looks of algorithms in the figures of studies."""

from __future__ import annotations

from collections.abc import Iterable

from dpol.core.plugins import load
from dpol.show.looks import Look, tell_apart


def looks_of(labels: Iterable[str]) -> dict[str, Look]:
    """A look for each label of one figure, whatever their order: its own, or one unlike the others.

    >>> looks_of(["rw-meta"])["rw-meta"].colour
    '#0072B2'
    """
    # As text: jobs that draw watch the looks, not how the registry makes algorithms.
    return tell_apart(labels, load("dpol.experts.registry:known_looks")())

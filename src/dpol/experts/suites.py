"""The suites of dpol: algorithms with their noises, told once for all configs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpol.core.words import nearest
from dpol.core.yaml_files import read_yaml

_FILE: Any = read_yaml(Path(__file__).with_suffix(".yaml"))
SUITES: Mapping[str, Any] = _FILE
"""The suites by label, as in a config."""


def by_label(suites: Any) -> dict[str, Any]:
    """Return the suites of a config by label, those of dpol written out.

    Args:
        suites: labels of suites of dpol; or a mapping from labels to suites, with nothing behind
            the label of a suite of dpol.

    Raises:
        ValueError: dpol has no such suite.

    >>> suites = by_label({"non-private": None, "mine": {"algorithms": ["rw-ftpl"]}})
    >>> [list(suites), suites["non-private"]["shown"]]
    [['non-private', 'mine'], ['follow-the-leader']]
    """
    asked = dict.fromkeys(suites) if isinstance(suites, list) else suites
    if not isinstance(asked, Mapping):
        raise ValueError(f"must be a list of {', '.join(SUITES)}, or a mapping from labels")
    for label in (label for label, suite in asked.items() if suite is None):
        if label not in SUITES:
            raise ValueError(f"dpol has no suite {label}{nearest(str(label), SUITES)}")
    return {label: SUITES[label] if suite is None else suite for label, suite in asked.items()}

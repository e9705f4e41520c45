"""Display names, from `names.yaml`: of noises, of RW-AdaBatch, and of the second paper's games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpol.core.yaml_files import read_yaml


@dataclass(frozen=True, kw_only=True)
class Name:
    """Display name of a label.

    Args:
        short: for tables and axes.
        long: for legends and sentences.
        ours: whether it is ours, not in the papers, and bears a mark.
    """

    short: str
    long: str
    ours: bool = False

    @property
    def marked(self) -> str:
        """Short name, with the mark † if it is ours."""
        return marked(self.short, self.ours)


_FILE: Any = read_yaml(Path(__file__).with_suffix(".yaml"))
_NOISES: Mapping[str, Name] = {label: Name(**block) for label, block in _FILE["noises"].items()}
BATCHES: Mapping[str, Name] = {label: Name(**block) for label, block in _FILE["batches"].items()}
"""Names of the bounds on switches of RW-AdaBatch and of the kinds of its curves; no others."""
LAZY: Mapping[str, str] = _FILE["lazy"]
"""Names of the algorithms whose regret the second paper's figure shows; no others."""

OUR_MARK = "†: ours, not in the paper"
"""The mark of our own work, and its meaning."""


def name_of(noise: str) -> Name:
    """Return the name of a noise, of dpol or of another package; all our noises are listed.

    >>> name_of("capacity").marked, name_of("steady").long
    ('capacity †', 'steady noise')
    """
    return _NOISES.get(noise, Name(short=noise, long=f"{noise} noise"))


def marked(title: str, ours: bool) -> str:
    """Add the mark † to a title if it is ours."""
    return f"{title} †" if ours else title

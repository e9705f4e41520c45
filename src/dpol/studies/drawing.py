"""What the page of a run states besides its exhibits: facts, and interactive figures.

A section with an interactive figure names a function that makes its `Widget` from (frames, facts):
result tables by name, and `PageFacts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpol.core.schemas import read_frame
from dpol.data.question import Gain
from dpol.data.tables.settings import Columns
from dpol.studies.registry import EVERY_RUN, PACKAGES
from dpol.studies.study import Facts, Frames, schemas_in


@dataclass(frozen=True, kw_only=True)
class PageFacts(Facts):
    """Facts about a run that its page states, besides those that its jobs know."""

    gains: Mapping[str, Gain]
    """Questions by label; the label is empty if the run asks only one."""
    period: str
    """Name of a round: day, week or period."""
    columns: Columns | None
    """Names of the columns of its table; None for a table of gains."""
    algorithms: Sequence[str]
    """Labels of the algorithms of its report, in order."""
    chosen_on: str
    """Data on which our method was chosen, in words; empty if the config does not say."""
    caveat: str = ""
    """What a reader must know about the numbers; empty if the config does not say."""
    led: tuple[str, str, float] = ("", "", 0.0)
    """Algorithm, noise and mu of which the lead tells at first."""
    run: str = ""
    """Name of the run."""
    commands: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """What `dpol choose` is given before and after the table, by label of a local algorithm; `{}`
    stands for the number of rounds."""


@dataclass(frozen=True, kw_only=True)
class Widget:
    """An interactive figure of a section, above its pictures.

    Args:
        name: name of the template, style and script in `dpol.report` that draw it.
        data: what the script reads, as plain values.
        values: values for the template.
        title: heading of the section; by default its own.
        intro: first paragraph of the section; by default its own.
    """

    name: str
    data: Mapping[str, Any]
    values: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    intro: str = ""


def frames_of(package: str, results: Mapping[str, str | Path]) -> Frames:
    """Read the result tables of a section, which may be of a study that every run has.

    Args:
        package: dotted name of the package of the study.
        results: file of each result table.

    Raises:
        DataError: a result table is missing, or does not fit its schema.
    """
    packages = *(PACKAGES[it] for it in EVERY_RUN), package
    schemas = {name: schema for it in packages for name, schema in schemas_in(it).items()}
    return {name: read_frame(Path(path), schemas[name]) for name, path in results.items()}

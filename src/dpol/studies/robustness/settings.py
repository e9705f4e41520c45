"""Settings of the study of robustness, and its points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from dpol.core.settings import Label, Settings, Several
from dpol.data.question import THE_PAPERS, Gain
from dpol.data.settings import Dataset, Streams, TableFile
from dpol.privacy.settings import Mu
from dpol.studies.comparison.settings import System
from dpol.studies.games.settings import Suites

Number = Annotated[int, Field(ge=2, le=1_000_000)]
TREATMENTS: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "averages": ("hidden averages, beds carried", (), "carry"),
    "counts": ("measured counts, beds carried", ("count_days",), "carry"),
    "absent": (
        "measured counts and beds, no patients where no beds",
        ("count_days", "capacity_days"),
        "absent",
    ),
    "drop": ("measured counts and beds", ("count_days", "capacity_days"), "drop"),
}
"""What is done about cells that nobody measured, by its folder: in words, the columns of sums that
are read, and `capacity_zero`."""


class Table(Settings):
    """A table with its streams and questions, as in a config."""

    dataset: Dataset
    """The table, a local file."""
    streams: Streams
    """Its gain streams."""
    questions: dict[Label, Gain] | None = None
    """Its questions; by default the first paper's."""

    @property
    def gains(self) -> dict[str, Gain]:
        """The questions by label; the label of a single question is empty."""
        return {"": THE_PAPERS} if self.questions is None else {**self.questions}


class Part(Settings):
    """Games at some levels."""

    mus: Several[Mu]
    """Privacy levels."""
    replicates: Number = 100
    """Independent repetitions; in `worlds` each has a stream of its own."""


class Fillings(Part):
    """Fillings of a table."""

    table: Table
    """The table, with one question."""
    read_as: Several[float]
    """Values of a suppressed cell, and of a suppressed sum."""


class Zeros(Part):
    """Tables with hidden zeros."""

    tables: Annotated[dict[Label, Table], Field(min_length=1)]
    """The tables, by the names of the runs that play them as they are."""
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    """Seed of those runs."""
    told_by: TableFile
    """A table with sums and days of the same count, which tell what hidden averages are."""
    hidden: Several[Annotated[float, Field(ge=0, le=1)]]
    """Shares of the quarters of a hospital that hide their zeros."""
    draws: Number = 10
    """Draws of each share above 0."""


class Robustness(Settings):
    """How results depend on what nobody measured, says or knows."""

    ours: System
    """Our method, or yours."""
    suites: Suites = {}
    """Suites of algorithms that play in `worlds`, `fillings` and `zeros`. Those that see raw gains
    play in `fillings` only, and in `zeros` no noise plays that depends on the counts."""
    worlds: Part | None = None
    """Local systems on simulated hospitals whose best one changes in one way or another."""
    fillings: Fillings | None = None
    """A table in which nobody measured some cells, filled in several ways."""
    zeros: Zeros | None = None
    """Tables whose zeros may hide counts, with a share of them hidden at random."""

    @property
    def system(self) -> tuple[str, str]:
        """Algorithm and noise of our method."""
        return self.ours.algorithm, self.ours.noise


@dataclass(frozen=True, kw_only=True)
class RobustnessPoint:
    """Games of one block.

    Args:
        settings: our method, the suites, and the one block that plays.
        confidence: joint confidence of the intervals.
        mu: Gaussian-DP parameter; `fillings` plays all levels.
        of: a treatment of `fillings`, or a table of `zeros`.
        question: label of the question of `zeros`.
        read_as: value of a suppressed cell, and of a suppressed sum.
    """

    settings: Robustness
    confidence: float
    mu: float = math.inf
    of: str = ""
    question: str = ""
    read_as: float = math.nan

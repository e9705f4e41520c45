"""The choices that another algorithm would have made from the same log."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpol.core.errors import DataError
from dpol.core.settings import AlgorithmSpec
from dpol.experts.registry import label_of
from dpol_weekly.coordinator.choices import choices_before, may_be_chosen
from dpol_weekly.coordinator.decide import number_of
from dpol_weekly.coordinator.evidence import read_evidence
from dpol_weekly.coordinator.log import open_log
from dpol_weekly.coordinator.settings import Coordination, algorithm_of, changed


@dataclass(frozen=True, kw_only=True)
class TwoChoices:
    """The choices of two algorithms for a period.

    Args:
        period: its start, YYYY-MM-DD.
        named: identifiers that the other algorithm names, best first.
        deployed: those that the coordinator's own algorithm names.
    """

    period: str
    named: tuple[str, ...]
    deployed: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """True if both name the same entities, in any order."""
        return set(self.named) == set(self.deployed)


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """The choices of another algorithm, and those of the coordinator's own.

    Args:
        algorithm: its label.
        deployed: the label of the coordinator's own.
        choices: of both, for each period that can be decided, in order.
    """

    algorithm: str
    deployed: str
    choices: tuple[TwoChoices, ...]


def alternative(
    folder: Path,
    spec: AlgorithmSpec,
    period: datetime.date | None = None,
    *,
    as_of: datetime.date | None = None,
    **changes: Any,
) -> Alternative:
    """Replay a log with another algorithm, for a period and all before it.

    Both algorithms are replayed on the log as it is now: a report that came late, or was set aside
    since, makes a period differ from the decision that was written. A period can be decided if two
    entities that may be chosen have reported before it. Nothing is written.

    Args:
        folder: of the coordinator.
        spec: the other algorithm: a local one of the registry, as an entry of a suite.
        period: the last one that is decided; None: the first one after the last report.
        as_of: the log is taken as it was at the end of that day, in universal time.
        changes: of the coordinator's own choices, for both.

    Raises:
        ConfigError: as `changed`; the algorithm is unknown or several, or cannot play a game that
            goes on.
        DataError: as `open_log`; no period can be decided; or an algorithm does not rank, and
            several entities are to be named.
    """
    with open_log(folder, as_of=as_of) as log:
        deployment = log.deployment
        own = changed(log.coordination, deployment, **changes)
        other = changed(own, deployment, algorithm=spec)
        reports = read_evidence(log, number_of(log, period)).reports
    joined = np.logical_or.accumulate(reports.there, axis=0)
    numbers = [
        number
        for number, before in enumerate(joined, start=1)
        if (before & may_be_chosen(deployment, own, number, reports)).sum() >= 2
    ]
    if not numbers:
        raise DataError(
            f"{log.path}: no period can be decided: two entities must have reported; collect more"
            " reports"
        )
    names = list(deployment.entities)

    def named_by(coordination: Coordination) -> list[tuple[str, ...]]:
        choices = choices_before(deployment, coordination, reports, numbers)
        return [tuple(names[place] for place in it.ranked[: own.names]) for it in choices]

    try:
        named = zip(numbers, named_by(other), named_by(own), strict=True)
    except ValueError as error:
        raise DataError(f"{log.path}: {error}") from None
    return Alternative(
        algorithm=label_of(algorithm_of(other.algorithm, deployment)),
        deployed=label_of(algorithm_of(own.algorithm, deployment)),
        choices=tuple(
            TwoChoices(period=deployment.period_of(number).isoformat(), named=theirs, deployed=ours)
            for number, theirs, ours in named
        ),
    )

"""The choices that another algorithm would have made from the same log."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpol.core.errors import ConfigError, DataError
from dpol.core.settings import AlgorithmSpec, Problem
from dpol.data.question import THE_PAPERS, Gain
from dpol.experts.registry import label_of
from dpol_weekly.coordinator.choices import choices_before, may_be_chosen
from dpol_weekly.coordinator.decide import number_of
from dpol_weekly.coordinator.evidence import read_evidence
from dpol_weekly.coordinator.log import open_log
from dpol_weekly.deployment import algorithm_of


@dataclass(frozen=True, kw_only=True)
class TwoChoices:
    """The choices of two algorithms for a period.

    Args:
        period: its start, YYYY-MM-DD.
        named: identifiers that the other algorithm names, best first.
        deployed: those that the deployment's own algorithm names.
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
    """The choices of another algorithm, and those of the deployment's own.

    Args:
        algorithm: its label.
        deployed: the label of the deployment's own.
        choices: of both, for each period that can be decided, in order.
    """

    algorithm: str
    deployed: str
    choices: tuple[TwoChoices, ...]


def alternative(
    folder: Path,
    spec: AlgorithmSpec,
    period: datetime.date | None = None,
    gain: Gain = THE_PAPERS,
) -> Alternative:
    """Replay a log with another algorithm, for a period and all before it.

    Both algorithms are replayed on the log as it is now: a report that came late, or was set aside
    since, makes a period differ from the decision that was written. A period can be decided if two
    entities that may be chosen have reported before it. Nothing is written.

    Args:
        folder: of the coordinator.
        spec: the other algorithm: a local one of the registry, as an entry of a suite.
        period: the last one that is decided; None: the first one after the last report.
        gain: the question.

    Raises:
        ConfigError: the algorithm is unknown or several, or cannot play a game that goes on.
        DataError: as `open_log`; no period can be decided; or an algorithm does not rank, and the
            deployment names several entities.
    """
    with open_log(folder) as log:
        deployment = log.deployment
        try:
            algorithm = algorithm_of(deployment, spec)
        except ValueError as error:
            raise ConfigError(str(Problem(("algorithm",), spec, str(error)))) from None
        reports = read_evidence(log, number_of(log, period)).reports
    joined = np.logical_or.accumulate(reports.there, axis=0)
    numbers = [
        number
        for number, before in enumerate(joined, start=1)
        if (before & may_be_chosen(deployment, number, reports, gain)).sum() >= 2
    ]
    if not numbers:
        raise DataError(
            f"{log.path}: no period can be decided: two entities must have reported; collect more"
            " reports"
        )
    own, names = algorithm_of(deployment), list(deployment.entities)
    try:
        named, deployed = (
            [
                tuple(names[place] for place in choice.ranked[: deployment.names])
                for choice in choices_before(deployment, it, reports, numbers, gain)
            ]
            for it in (algorithm, own)
        )
    except ValueError as error:
        raise DataError(f"{log.path}: {error}") from None
    choices = tuple(
        TwoChoices(period=deployment.period_of(it).isoformat(), named=other, deployed=chosen)
        for it, other, chosen in zip(numbers, named, deployed, strict=True)
    )
    return Alternative(algorithm=label_of(algorithm), deployed=label_of(own), choices=choices)

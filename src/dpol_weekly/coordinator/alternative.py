"""The choices that another algorithm would have made from the same log."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpol.core.errors import ConfigError, DataError
from dpol.core.settings import AlgorithmSpec, Problem
from dpol.experts.registry import make_members
from dpol_weekly.coordinator.decide import check_ranked, number_of
from dpol_weekly.coordinator.log import Log, open_log
from dpol_weekly.coordinator.panel import Panel, read_panel
from dpol_weekly.coordinator.replay import games_before
from dpol_weekly.deployment import Deployment, algorithm_of


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

    @property
    def agreed(self) -> int:
        """The number of periods in which both name the same entities."""
        return sum(it.agrees for it in self.choices)


def alternative(
    folder: Path, algorithm: AlgorithmSpec, period: datetime.date | None = None
) -> Alternative:
    """Replay a log with another algorithm, for a period and all before it.

    Both algorithms are replayed on the log as it is now: a report that came late, or was set aside
    since, makes a period differ from the decision that was written. A period can be decided if two
    entities that may be chosen have reported before it. Nothing is written.

    Args:
        folder: of the coordinator.
        algorithm: a local one of the registry, as an entry of a suite.
        period: the last one that is decided; None: the first one after the last report.

    Raises:
        ConfigError: the algorithm is unknown or several, or cannot play a live game.
        DataError: as `open_log`; no period can be decided; or an algorithm does not rank, and the
            deployment names several entities.
    """
    with open_log(folder) as log:
        deployment = log.deployment
        try:
            algorithm_of(deployment, algorithm)
        except ValueError as error:
            raise ConfigError(str(Problem(("algorithm",), algorithm, str(error)))) from None
        panel = read_panel(log, number_of(log, period))
        numbers = _decidable(deployment, panel)
        if not numbers:
            raise DataError(
                f"{log.path}: no period can be decided: two entities must have reported; collect"
                " more reports"
            )
        named, deployed = (
            _named(log, it, panel, numbers) for it in (algorithm, deployment.algorithm)
        )
    return Alternative(
        algorithm=make_members(algorithm)[0].label,
        deployed=make_members(deployment.algorithm)[0].label,
        choices=tuple(
            TwoChoices(period=deployment.period_of(number).isoformat(), named=other, deployed=own)
            for number, other, own in zip(numbers, named, deployed, strict=True)
        ),
    )


def _decidable(deployment: Deployment, panel: Panel) -> list[int]:
    """The periods before which two entities that may be chosen have reported."""
    joined = np.logical_or.accumulate(panel.there, axis=0)
    return [
        number
        for number, known in enumerate(joined, start=1)
        if (known & _may_be_chosen(deployment, number)).sum() >= 2
    ]


def _may_be_chosen(deployment: Deployment, number: int) -> NDArray[np.bool_]:
    """(n,) flags of the entities that take part in a period."""
    day = deployment.period_of(number)
    return np.array([it.takes_part(day) for it in deployment.entities.values()])


def _named(
    log: Log, algorithm: AlgorithmSpec, panel: Panel, numbers: Sequence[int]
) -> list[tuple[str, ...]]:
    """The identifiers that an algorithm names in each of several periods."""
    deployment, named = log.deployment, []
    identifiers = list(deployment.entities)
    for ready in games_before(deployment, algorithm_of(deployment, algorithm), panel, numbers):
        choice = ready.choose()
        check_ranked(log, algorithm, choice, int(ready.among.sum()))
        named.append(tuple(identifiers[it] for it in choice.ranked[: deployment.names]))
    return named

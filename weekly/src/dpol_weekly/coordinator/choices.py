"""Replay the reports: what is chosen for a period."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpol_weekly.coordinator.decision import Coverage
from dpol_weekly.coordinator.evidence import Reports
from dpol_weekly.coordinator.game import Law, play
from dpol_weekly.coordinator.settings import Coordination
from dpol_weekly.deployment import Deployment


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The choice for a period.

    Args:
        ranked: indices of the entities that may be chosen, best first.
        law: predicted distribution of the true shares.
        coverage: how well earlier predictions fitted; None if there were none.
    """

    ranked: tuple[int, ...]
    law: Law
    coverage: Coverage | None


def choose(
    deployment: Deployment, coordination: Coordination, reports: Reports, number: int
) -> Choice:
    """Return the choice for a period, from the reports before it.

    Args:
        deployment: the entities.
        coordination: the question. For the count question, the game and the predicted shares use
            counts / bound.
        reports: the reports of all earlier periods.
        number: number of the period.

    Raises:
        ValueError: fewer than two entities have reported, or none may be chosen.
    """
    count = int(reports.there.any(axis=0).sum())
    if count < 2:
        raise ValueError(f"two entities must have reported before a decision, not {count}")
    among = may_be_chosen(deployment, coordination, reports, number)
    if not among.any():
        raise ValueError(
            "no entity may be chosen that takes part, has reported, and has reported capacities"
            " large enough; lower min_capacity, or shorten cannot_be_chosen"
        )
    if coordination.question.bound is not None:
        reports = reports.as_counts(coordination.question.bound)
    last = deque(play(reports), maxlen=1).pop()
    order = np.argsort(-last.scores, kind="stable")
    coverage = Coverage(reports=last.compared, inside=last.inside) if last.compared else None
    return Choice(ranked=tuple(order[among[order]].tolist()), law=last.law, coverage=coverage)


def may_be_chosen(
    deployment: Deployment, coordination: Coordination, reports: Reports, number: int
) -> NDArray[np.bool_]:
    """Return (n,) flags of entities that take part in a period, have reported and may be chosen.

    A chosen entity is large enough in all its reports.
    """
    day, never = deployment.period_of(number), coordination.cannot_be_chosen
    entities = deployment.entities.items()
    among = np.array([it.takes_part(day) and name not in never for name, it in entities])
    least = coordination.question.min_capacity or 0.0
    large = ~(reports.capacity < least).any(axis=0)
    return np.asarray(among & large & reports.there.any(axis=0))

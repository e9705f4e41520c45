"""Jobs of the study of robustness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from dpol.studies.robustness.settings import RobustnessPoint
from dpol.studies.robustness.unmeasured import play_fillings, play_zeros
from dpol.studies.robustness.worlds import play_worlds
from dpol.studies.study import Inputs

POINT = RobustnessPoint
_PLAYS: Mapping[str, Callable[[Any, RobustnessPoint, Inputs], pd.DataFrame]] = {
    "worlds": play_worlds,
    "fillings": play_fillings,
    "zeros": play_zeros,
}


def run(point: RobustnessPoint, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """Play the games of a point: the rows of the result table of its block, or more columns."""
    tables = {name: pd.DataFrame() for name in _PLAYS}
    (name,) = point.settings.model_fields_set.intersection(_PLAYS)
    return tables | {name: _PLAYS[name](getattr(point.settings, name), point, inputs)}

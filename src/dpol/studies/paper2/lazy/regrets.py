"""Rows of measured regret, for the studies of L2P for experts and for convex losses."""

from __future__ import annotations

import math
from dataclasses import asdict

from dpol.core.intervals import standard_error
from dpol.core.randomness import Floats
from dpol.lazy.parameters import AccountedParameters
from dpol.privacy.guarantee import NO_PRIVACY, ONE_ROUND, WHOLE_LOSSES, Guarantee

PARAMETERS = ("batch_size", "eta", "fake_switch", "limit", "sigma", "beta", "regulariser")
"""Parameters that have a column in at least one of the studies."""


def central_guarantee(
    mechanism: str,
    sensitivity: float,
    sensitivity_unit: str,
    *,
    mu: float = math.nan,
    epsilon_delta: tuple[float, float] | None = None,
) -> Guarantee:
    """Return a guarantee for the actions, for a change of all losses of one round."""
    return Guarantee(
        mechanism=mechanism,
        adjacency=WHOLE_LOSSES,
        unit=ONE_ROUND,
        sensitivity=sensitivity,
        sensitivity_unit=sensitivity_unit,
        mu=mu,
        model="central",
        sampler="seeded",
        epsilon_delta=epsilon_delta,
    )


def regret_row(
    regret: Floats,
    redraws: Floats | None = None,
    guarantee: Guarantee = NO_PRIVACY,
    parameters: AccountedParameters | None = None,
) -> dict[str, object]:
    """Return the row of an algorithm in a game, without interval (see docs/reference/tables.md).

    Columns that do not apply to the algorithm are left out; they are empty in the table.

    Args:
        regret: (R,) regret of each run.
        redraws: (R,) number of redraws or switches of the action, if they are counted.
        guarantee: privacy guarantee of the algorithm.
        parameters: parameters of L2P or of a predecessor.
    """
    row = {
        "replicates": len(regret),
        "mean_regret": regret.mean(),
        "standard_error": float(standard_error(regret)),
        **guarantee.as_columns(),
    }
    if redraws is not None:
        row["redraws"] = redraws.mean()
    if parameters:
        values = asdict(parameters)
        of_row = {name: float(values[name]) for name in PARAMETERS if name in values}
        row |= {name: value for name, value in of_row.items() if math.isfinite(value)}
        row["accounted_epsilon"] = parameters.epsilon
    return row

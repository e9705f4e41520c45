"""Rows of measured regret, as the studies of L2P for experts and for convex losses make them."""

from __future__ import annotations

import math
from dataclasses import asdict

from dpol.core.intervals import standard_error
from dpol.core.randomness import Floats
from dpol.lazy.parameters import AccountedParameters
from dpol.privacy.guarantee import NO_PRIVACY, ONE_ROUND, WHOLE_LOSSES, Guarantee

PARAMETERS = ("batch_size", "eta", "fake_switch", "beta", "regulariser")
"""Parameters of L2P that have a column, in one of the studies or both."""


def central_guarantee(
    mechanism: str,
    sensitivity: float,
    sensitivity_unit: str,
    *,
    mu: float = math.nan,
    epsilon_delta: tuple[float, float] | None = None,
) -> Guarantee:
    """A guarantee of what is played, for a change of one round's whole losses."""
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
    """A row on one algorithm in one game, without interval (columns: docs/reference/tables.md).

    Columns that say nothing of the algorithm are left out; they are empty in the table.

    Args:
        regret: (R,) of each run.
        redraws: (R,) how often what is played was drawn afresh, if it is now and then.
        guarantee: what the algorithm guarantees.
        parameters: those of L2P.
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
        row |= {name: float(values[name]) for name in PARAMETERS if name in values}
        row["accounted_epsilon"] = parameters.epsilon
    return row

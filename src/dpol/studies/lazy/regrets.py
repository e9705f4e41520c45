"""Rows of measured regret, as the studies of L2P for experts and for convex losses make them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from dpol.core.intervals import standard_error
from dpol.core.randomness import Floats
from dpol.lazy.parameters import AccountedParameters
from dpol.privacy.guarantee import NO_PRIVACY, ONE_ROUND, WHOLE_LOSSES, Guarantee


def central_guarantee(
    mechanism: str,
    sensitivity: float,
    sensitivity_unit: str,
    *,
    mu: float = math.nan,
    epsilon_delta: tuple[float, float] | None = None,
) -> Guarantee:
    """A guarantee of what is played, for a change of one round's whole losses."""
    whole = WHOLE_LOSSES, ONE_ROUND, sensitivity, sensitivity_unit
    return Guarantee(mechanism, *whole, mu, "central", "seeded", epsilon_delta)


def regret_row(
    names: Sequence[str],
    regret: Floats,
    redraws: Floats | float = math.nan,
    guarantee: Guarantee = NO_PRIVACY,
    parameters: AccountedParameters | None = None,
) -> dict[str, object]:
    """What one algorithm did in one game, without interval (columns: docs/reference/tables.md).

    Args:
        names: the parameters of L2P that have a column.
        regret: (R,) of each run.
        redraws: (R,) how often what is played was drawn afresh, if it is now and then.
        guarantee: what the algorithm guarantees.
        parameters: those of L2P.
    """
    chosen = asdict(parameters) if parameters else {}
    return {
        **{name: float(chosen.get(name, math.nan)) for name in names},
        "accounted_epsilon": chosen.get("epsilon", math.nan),
        "replicates": len(regret),
        "mean_regret": regret.mean(),
        "standard_error": float(standard_error(regret)),
        "redraws": np.mean(redraws),
        **guarantee.as_columns(),
    }

"""Rows of measured regret, for the studies of L2P for experts and for convex losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from dpol.core.intervals import add_intervals, half_width, standard_error
from dpol.core.randomness import Floats
from dpol.lazy.parameters import AccountedParameters
from dpol.privacy.guarantee import NO_PRIVACY, ONE_ROUND, WHOLE_LOSSES, Guarantee
from dpol.privacy.losses import Loss, pure
from dpol.studies.verdicts import verdict_on

if TYPE_CHECKING:
    import pandas as pd

PARAMETERS = ("batch_size", "eta", "fake_switch", "limit", "beta", "regulariser")
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
        loss=pure(*epsilon_delta) if epsilon_delta else Loss(gaussian=mu),
        model="central",
    )


def regrets(
    regret: Floats,
    redraws: Floats | None = None,
    guarantee: Guarantee = NO_PRIVACY,
    parameters: AccountedParameters | None = None,
) -> dict[str, Any]:
    """Return the columns of an algorithm in a game: its runs, their mean, and its guarantee.

    Columns that do not apply to the algorithm are left out; they are empty in the table.

    Args:
        regret: (R,) regret of each run.
        redraws: (R,) number of redraws or switches of the action, if they are counted.
        guarantee: privacy guarantee of the algorithm.
        parameters: parameters of L2P or of a predecessor.
    """
    row: dict[str, Any] = {
        "regret_runs": regret.tolist(),
        "mean_regret": float(regret.mean()),
        "standard_error": float(standard_error(regret)),
        **guarantee.as_columns(),
    }
    if redraws is not None:
        row["redraws"] = float(redraws.mean())
    if parameters:
        values = asdict(parameters)
        of_row = {name: float(values[name]) for name in PARAMETERS if name in values}
        row |= {name: value for name, value in of_row.items() if math.isfinite(value)}
        row["accounted_epsilon"] = parameters.epsilon
    return row


def compared(
    name: str, rows: pd.DataFrame, game: Sequence[str], confidence: float
) -> dict[str, pd.DataFrame]:
    """Return the result tables: the rows with intervals that hold together, and their pairs.

    The table `<name>_pairs` has a row for each pair of private algorithms in a game: the difference
    of their regrets. Both play on the same losses in each replicate. The intervals of all pairs
    hold together, so that the best of a game may be chosen in hindsight.

    Args:
        name: name of the table of the rows.
        rows: a row per game and algorithm, with `regret_runs`.
        game: columns that name a game.
        confidence: confidence of all intervals together.
    """
    import pandas as pd

    private = rows[rows["model"] != "none"]
    pairs = [
        (one, other)
        for _, of_game in private.groupby(list(game), sort=False)
        for one, other in combinations(of_game.to_dict("records"), 2)
    ]
    found = []
    for one, other in pairs:
        runs = np.subtract(one["regret_runs"], other["regret_runs"])
        half = float(half_width(runs, confidence, len(pairs)))
        difference = float(runs.mean())
        found.append(
            {name: one[name] for name in game}
            | {"algorithm": one["algorithm"], "other_algorithm": other["algorithm"]}
            | {"difference": difference, "difference_half_width": half}
            | {"verdict": verdict_on(difference, half), "replicates": len(runs)}
        )
    about = {"confidence": confidence, "ci_comparisons": len(pairs)}
    return {
        name: add_intervals(rows, {"standard_error": "ci_half_width"}, confidence),
        f"{name}_pairs": pd.DataFrame(found).assign(**about),
    }

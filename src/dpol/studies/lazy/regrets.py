"""Rows of measured regret, as the studies of L2P for experts and for convex losses make them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from dpol.core.intervals import standard_error
from dpol.core.randomness import Floats
from dpol.lazy.parameters import AccountedParameters
from dpol.privacy.guarantee import ONE_ROUND, WHOLE_LOSSES, Guarantee

central_guarantee = partial(
    Guarantee, adjacency=WHOLE_LOSSES, unit=ONE_ROUND, model="central", sampler="seeded"
)
"""A guarantee of what is played, for a change of one round's whole losses."""


@dataclass(frozen=True, eq=False)
class Run:
    """What one algorithm did in one game.

    Args:
        losses: (R,) total losses.
        redraws: (R,) how often what is played was drawn afresh; None if nothing is.
        guarantee: what the algorithm guarantees.
        parameters: those of L2P.
    """

    losses: Floats
    redraws: Floats | None
    guarantee: Guarantee
    parameters: AccountedParameters | None = None


def regret_row(
    setting: Mapping[str, object], run: Run, least: float, names: Sequence[str]
) -> dict[str, object]:
    """One row of a table of regrets, without interval (columns: docs/reference/tables.md).

    Args:
        setting: the first columns.
        run: what the algorithm did.
        least: total loss of what regret is measured against.
        names: the parameters of L2P that have a column.
    """
    regret = run.losses - least
    chosen = asdict(run.parameters) if run.parameters else {}
    return {
        **setting,
        **{name: float(chosen.get(name, math.nan)) for name in names},
        "accounted_epsilon": chosen.get("epsilon", math.nan),
        "replicates": len(regret),
        "mean_regret": regret.mean(),
        "standard_error": float(standard_error(regret)),
        "redraws": math.nan if run.redraws is None else run.redraws.mean(),
        **run.guarantee.as_columns(),
    }

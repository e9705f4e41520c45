"""Hand-made summaries, their tables, and helpers to read a table."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from dpol.data.settings import Stream
from dpol.privacy.losses import Loss
from dpol.privacy.settings import keeps_level
from dpol.show.table import Table, TableCell
from dpol.studies.games.collect import conclude
from dpol.studies.games.names import META, TABLE_2
from dpol.studies.study import Facts

INF = math.inf
LEVELS = INF, 1.0
STREAM = Stream(groups=["NM"], title="New Mexico", reported_as="NM")


def run(algorithm: str, mu: float, gain: float, **changes: Any) -> dict[str, Any]:
    papers = (algorithm, "noise" in changes) == (META, False)
    row: dict[str, Any] = {
        "stream": "nm",
        "n_experts": 24,
        "n_rounds": 148,
        "best_fixed": "North",
        "uniform_gain": 0.0,
        "best_fixed_gain": 30.0,
        "oracle_gain": 60.0,
        "unmeasured_periods": 0,
        "unmeasured_share": 0.0,
        "first_period": pd.Timestamp("2020-08-09"),
        "last_period": pd.Timestamp("2023-06-04"),
        "algorithm": algorithm,
        "family": algorithm,
        "shown_as": changes.get("family", algorithm),
        "sees": "raw" if changes.get("model", "local") != "local" else "noisy",
        "exhibit": TABLE_2 * papers,
        "column": META * papers,
        "variant": False,
        "noise": "isotropic",
        "level": f"mu-{mu:g}",
        "mu": mu,
        "replicates": 100,
        "mean_gain": gain,
        "ci_half_width": 0.126,
        "named_right": 0.25,
        "named_right_half_width": 0.05,
        "confidence": 0.95,
        "ci_comparisons": 12,
        "model": "local",
        "count_noise": 2**0.5 / mu if mu < INF else float("nan"),
        "origin": "paper",
        "guaranteed_mu": mu,
        "numerical": False,
        "loss": json.dumps(Loss(gaussian=mu).as_data()),
        **{f"mu_{v}_week" + "s" * (v > 1): mu * v**0.5 for v in (1, 2, 4, 8)},
        "carried_weeks": 4.0,
        "mu_carried": mu * 5**0.5,
        "memory": "",
        "sampler": "seeded",
        "sensitivity": 0.07,
        "sensitivity_unit": "L2, gain",
        "epsilon": INF if mu == INF else 4.89,
        "delta": 1e-6,
        "mechanism": "Gaussian noise",
        "adjacency": "one person elsewhere",
        "taken_as_public": "",
        "unit": "one person in one round",
        "simulated": False,
    }
    return row | changes


def rows() -> list[dict[str, Any]]:
    leader = {"noise": "none", "model": "none", "origin": "standard", "ci_half_width": 0.0}
    return [
        run("rw-meta", INF, 41.25),
        run("rw-meta", 1.0, 1 / 3),
        run("tree-ftpl-min-noise", INF, 26.0, model="central"),
        run("tree-ftpl-min-noise", 1.0, 22.0, model="central"),
        run("follow-the-leader", INF, 26.5, **leader),
        run("ridge-w8-weak", INF, 43.0, family="ridge"),
        run("ridge-w8-weak", 1.0, 38.0, family="ridge"),
        run("ridge-w64-strong", INF, 42.0, family="ridge"),
        run("ridge-w64-strong", 1.0, 39.0, family="ridge"),
    ]


FACTS = Facts(
    {"nm": "New Mexico"},
    simulated=False,
    confidence=0.95,
    levels=LEVELS,
    reported={"nm": STREAM.reported_as},
)


def summary(data: Sequence[dict[str, Any]] | None = None) -> pd.DataFrame:
    """Return the hand-made summary with all columns that follow from it."""
    frame = pd.DataFrame(rows() if data is None else data)
    return conclude(frame.assign(keeps_level=keeps_level(frame["guaranteed_mu"], frame["mu"])))


def lines(table: Table) -> list[tuple[str, str, tuple[TableCell, ...]]]:
    """Return group, label and cells of all lines."""
    groups = [group for section in table.sections for group in section.groups]
    return [(group.title, label, cells) for group in groups for label, cells in group.lines]


def texts(table: Table) -> list[list[str]]:
    """Return the texts of each line: label and cells."""
    return [[label, *(cell.text for cell in cells)] for _, label, cells in lines(table)]

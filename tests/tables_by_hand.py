"""Hand-made summaries, their tables, and what a test asks of a table."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from dpol.data.settings import Stream
from dpol.studies.hospitals.average_gain import AverageGain, build_average_gain
from dpol.studies.hospitals.layout import Cell
from dpol.studies.hospitals.settings import Report

INF = math.inf
LEVELS = {"none": INF, "low": 1.0}
STREAM = Stream(groups=["NM"], title="New Mexico", reported_as="NM")


def run(algorithm: str, mu: float, gain: float, **changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "stream": "nm",
        "n_experts": 24,
        "n_rounds": 148,
        "first_period": pd.Timestamp("2020-08-09"),
        "last_period": pd.Timestamp("2023-06-04"),
        "algorithm": algorithm,
        "family": algorithm,
        "noise": "isotropic",
        "mu": mu,
        "replicates": 100,
        "mean_gain": gain,
        "ci_half_width": 0.126,
        "ci_comparisons": 12,
        "model": "local",
        "ours": False,
        "guaranteed_mu": mu,
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
    leader = {"noise": "none", "model": "none", "ours": True, "ci_half_width": 0.0}
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


def build(
    data: list[dict[str, Any]] | None = None,
    *,
    stream: Stream = STREAM,
    levels: dict[str, float] = LEVELS,
    **report: Any,
) -> AverageGain:
    algorithms = ["rw-meta", "tree-ftpl-min-noise", "follow-the-leader"]
    return build_average_gain(
        pd.DataFrame(rows() if data is None else data),
        streams={"nm": stream},
        levels=levels,
        report=Report(**{"algorithms": algorithms} | report),
    )


def column(table: AverageGain, title: str) -> list[Cell | None]:
    index = [header.column for header in table.headers].index(title)
    return [row.cells[index] for row in table.rows]


def gains(table: AverageGain, title: str) -> list[float | str | None]:
    """None where it was not run, "" where the cell is empty."""
    return ["" if cell is None else cell.mean_gain for cell in column(table, title)]


def notes(table: AverageGain, title: str) -> list[str]:
    return [cell.note for cell in column(table, title) if cell]


def reported(table: AverageGain) -> list[float]:
    cells = [cell for row in table.rows for cell in row.shown]
    return [cell.reported_mean_gain for cell in cells if cell.reported_mean_gain is not None]


def has_footer(table: AverageGain, text: str) -> bool:
    return any(text in footer for footer in table.footers)

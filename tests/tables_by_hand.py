"""Hand-made summaries, their tables, and helpers to read a table."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from dpol.data.settings import Stream
from dpol.show.table import Table, TableCell
from dpol.studies.games.gains import average_gain_table
from dpol.studies.games.settings import Games, Report
from dpol.studies.games.summary import conclude
from dpol.studies.study import Facts

INF = math.inf
LEVELS = {"none": INF, "low": 1.0}
STREAM = Stream(groups=["NM"], title="New Mexico", reported_as="NM")


def run(algorithm: str, mu: float, gain: float, **changes: Any) -> dict[str, Any]:
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
        "unmoved": False,
        "count_noise": 2**0.5 / mu if mu < INF else float("nan"),
        "ours": False,
        "guaranteed_mu": mu,
        **{f"mu_{v}_week" + "s" * (v > 1): mu * v**0.5 for v in (1, 2, 4, 8)},
        "carried_weeks": 4.0,
        "mu_carried": mu * 5**0.5,
        "noise_memory": "",
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


def cumulative(n_rounds: int = 4) -> pd.DataFrame:
    """Return curves of these runs: equal gains in every round, from the last days of a year on."""
    played = [
        ("uniform-random", "none", math.nan, 0.25, 0.0),
        ("best-fixed-expert", "none", math.nan, 0.5, 0.0),
        ("oracle", "none", math.nan, 1.0, 0.0),
        ("rw-meta", "isotropic", INF, 0.75, 0.126),
        ("rw-meta", "isotropic", 1.0, 0.625, INF),
        ("rw-meta", "capacity", 1.0, 0.7, 0.0001),
        ("tree-ftpl-min-noise", "isotropic", 1.0, 0.5, 0.25),
        ("follow-the-leader", "none", INF, 0.5, 0.0),
        ("ridge-w8-weak", "isotropic", 1.0, 0.375, 0.1),
        ("ridge-w64-strong", "isotropic", 1.0, 0.875, 0.1),
    ]
    rounds = range(1, n_rounds + 1)
    whole = {"round": rounds, "period": pd.date_range("2020-12-20", periods=n_rounds, freq="7D")}
    return pd.concat(
        pd.DataFrame({"stream": "nm", "algorithm": label, "noise": noise, "mu": mu, **whole})
        .assign(family=label.split("-w")[0] if "ridge" in label else label, ci_half_width=half)
        .assign(mean_cumulative_gain=[gain * number for number in rounds])
        for label, noise, mu, gain, half in played
    )


FACTS = Facts(
    {"nm": "New Mexico"},
    simulated=False,
    confidence=0.95,
    levels=LEVELS,
    reported={"nm": STREAM.reported_as},
)


def main(**report: Any) -> Games:
    algorithms = ["rw-meta", "tree-ftpl-min-noise", "follow-the-leader"]
    return Games(report=Report(**{"algorithms": algorithms} | report))


def summary(data: list[dict[str, Any]] | None = None) -> pd.DataFrame:
    """Return the hand-made summary with all columns that follow from it."""
    return conclude(pd.DataFrame(rows() if data is None else data))


def build(
    data: list[dict[str, Any]] | None = None, *, facts: Facts = FACTS, **report: Any
) -> Table:
    return average_gain_table({"summary": summary(data)}, main(**report), facts)


def lines(table: Table) -> list[tuple[str, str, tuple[TableCell, ...]]]:
    """Return group, label and cells of all lines."""
    groups = [group for section in table.sections for group in section.groups]
    return [(group.title, label, cells) for group in groups for label, cells in group.lines]


def texts(table: Table) -> list[list[str]]:
    """Return the texts of each line: label and cells."""
    return [[label, *(cell.text for cell in cells)] for _, label, cells in lines(table)]


def column(table: Table, title: str) -> list[TableCell]:
    """Return the cells of a column."""
    place = [header.title for header in table.columns].index(title)
    return [cells[place] for _, _, cells in lines(table)]


def gains(table: Table, title: str) -> list[str]:
    """Return the gains in a column without half-widths."""
    return [cell.text.split(" ")[0] for cell in column(table, title)]


def has_footer(table: Table, text: str) -> bool:
    return any(text in footer for footer in table.footers)

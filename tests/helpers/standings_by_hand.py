"""Hand-made standings, from rows of a summary with total gains."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from dpol.studies.league.settings import LeaguePoint
from dpol.studies.league.standings import standings
from dpol.studies.study import schemas_in
from tables_by_hand import INF, run, summary

Row = dict[str, Any]


def frames_of(frame: pd.DataFrame, **record: Any) -> dict[str, pd.DataFrame]:
    """Return standings with the records of privacy of their rows, perhaps changed."""
    nothing = {"taken_as_public": "", "mu_carried": math.nan, "keeps_level": True}
    return {"standings": frame, "summary": frame.assign(**nothing | record)}


def at_levels(algorithm: str, *gains: float, **changes: Any) -> list[Row]:
    """Return runs without noise, at mu = 1 and at 0.25; the possible gain is 60."""
    return [
        run(algorithm, mu, gain, **changes)
        for mu, gain in zip((INF, 1.0, 0.25), gains, strict=True)
    ]


def played(stream: str = "nm") -> list[Row]:
    """The paper's method keeps 20, 30 and 10; persistence 50, 60 and 40; a curator everything."""
    return [
        *at_levels("rw-meta", 12.0, 18.0, 6.0, stream=stream),
        *at_levels("rw-ftpl", 6.0, 6.0, 6.0, stream=stream),
        *at_levels("persistence", 30.0, 36.0, 24.0, stream=stream, noise="capacity"),
        *at_levels("ridge-w8-weak", 36.0, 30.0, 24.0, stream=stream, family="ridge"),
        *at_levels("tree-ftpl-min-noise", 60.0, 60.0, 60.0, model="central", stream=stream),
        *at_levels("rw-adabatch", 60.0, 60.0, 60.0, guaranteed_mu=2.0, stream=stream),
        run("follow-the-leader", INF, 60.0, model="none", noise="none", stream=stream),
    ]


def tables(rows: Iterable[Row]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the summary and the totals of rows as `tables_by_hand.run` makes them.

    A row may have `totals`, the gain of each replicate; otherwise ten replicates have its mean.
    """
    runs = [dict(row) for row in rows]
    totals = [run.pop("totals", [run["mean_gain"]] * 10) for run in runs]
    parts = [
        {name: run[name] for name in ("stream", "algorithm", "noise", "mu")}
        | {"replicate": replicate, "total_gain": gain}
        for run, gains in zip(runs, totals, strict=True)
        for replicate, gain in enumerate(gains)
    ]
    for row, gains in zip(runs, totals, strict=True):
        row |= {"mean_gain": sum(gains) / len(gains), "replicates": len(gains)}
    return summary(runs), pd.DataFrame(parts)


def standings_of(
    rows: Iterable[Row],
    *,
    questions: Mapping[str, str] | None = None,
    apart: bool = False,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Return the standings as their job writes them; by default all streams ask one question."""
    made, totals = tables(rows)
    asked = questions or dict.fromkeys(made["stream"], "")
    point = LeaguePoint(questions=asked, apart=apart, confidence=confidence)
    schema = schemas_in("dpol.studies.league")["standings"]
    return schema.check(standings(made, totals, point)[list(schema.columns)], "standings")

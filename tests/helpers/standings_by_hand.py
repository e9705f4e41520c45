"""Hand-made standings, from rows of a summary with total gains."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from dpol.studies.league.settings import LeaguePoint
from dpol.studies.league.standings import standings
from dpol.studies.study import schemas_in
from tables_by_hand import summary

Row = dict[str, Any]


def frames_of(frame: pd.DataFrame, **record: Any) -> dict[str, pd.DataFrame]:
    """Return standings with the records of privacy of their rows, perhaps changed."""
    nothing = {"taken_as_public": "", "mu_carried": math.nan, "keeps_level": True}
    return {"standings": frame, "summary": frame.assign(**nothing | record)}


def tables(rows: Iterable[Row]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the summary and the totals of rows as `tables_by_hand.run` makes them.

    A row may have `totals`, the gain of each replicate; otherwise two replicates have its mean.
    """
    runs = [dict(row) for row in rows]
    totals = [run.pop("totals", [run["mean_gain"]] * 2) for run in runs]
    parts = [
        {name: run[name] for name in ("stream", "algorithm", "noise", "mu")}
        | {"replicate": replicate, "total_gain": gain}
        for run, gains in zip(runs, totals, strict=True)
        for replicate, gain in enumerate(gains)
    ]
    for run, gains in zip(runs, totals, strict=True):
        run |= {"mean_gain": sum(gains) / len(gains), "replicates": len(gains)}
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

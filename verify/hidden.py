"""Record how many zeros of the states' tables hide counts, as far as other tables tell.

    python verify/hidden.py

A Sunday's week overlaps two weeks of the states' tables, which begin on Fridays. Where a hospital
has 0 in both, Central Texas, whose sums and marks are certain, and the hospitals that are alone in
their county say whether its count was 0 or hidden. Counts both by beds and quarter, and measures
the hidden averages. Writes verify/runs/hidden.csv. Takes some seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from made_with import asked, note

from dpol.studies.robustness.unmeasured import MARK, hidden_averages

DATA = Path(__file__).parents[1] / "data" / "hospitals"
OUT = Path(__file__).parent / "runs" / "hidden.csv"
FRIDAYS = {
    "fifteen states": "hospitals-15-states-2021-01-01--2022-07-29.parquet",
    "eight held-out states": "hospitals-8-held-out-states-2021-01-01--2022-07-29.parquet",
}
CENTRAL_TEXAS = "hospitals-central-texas-2020-08-09--2023-06-04.parquet"
SUNDAYS = {
    "Central Texas": CENTRAL_TEXAS,
    "alone in their county": (
        "hospitals-alone-in-county-nm-pa-ca-sundays-2020-08-09--2021-12-26.parquet"
    ),
}
COUNT = "total_adult_patients_hospitalized_confirmed_covid_7_day"
BEDS = "all_adult_hospital_inpatient_beds_7_day_avg"
LEAST_SHOWN = 4
"""Smallest sum that HHS shows, apart from 0."""
BED_GROUPS = {-1: "to 10", 10: "to 25", 25: "to 50", 50: "to 100", 100: "above 100"}
"""Names of the groups by beds, by what they are above."""
COLUMNS = [
    *("table", "by", "group", "weeks", "zero", "hidden", "above", "sums", "largest_sum", "value"),
]


def read_counts(name: str) -> pd.DataFrame:
    """Return a table with its counts as `count`, nan where hidden or missing, and its `week`."""
    table = pd.read_parquet(DATA / name)
    count, week = table[f"{COUNT}_avg"], pd.to_datetime(table["collection_week"])
    table["hospital_pk"] = table["hospital_pk"].astype(str)
    return table.assign(marked=count == MARK, count=count.mask(count == MARK), week=week)


def overlapping(sundays: pd.DataFrame, fridays: pd.DataFrame) -> pd.DataFrame:
    """Return the Sundays with the counts of both overlapping Fridays, and the hospital's beds."""
    for side, days in (("before", -2), ("after", 5)):
        own = fridays[["hospital_pk", "week", "count"]].rename(columns={"count": side})
        own["week"] -= pd.Timedelta(days=days)
        sundays = sundays.merge(own, on=["hospital_pk", "week"], how="left")
    beds = fridays.groupby("hospital_pk")[BEDS].median()
    return sundays.assign(beds=sundays["hospital_pk"].map(beds))


def counted(rows: pd.DataFrame) -> dict[str, Any]:
    """Return how many Sundays are 0, hidden and above 0, and what is known of the hidden sums."""
    hidden = rows["count"].isna()
    counts = {"weeks": len(rows), "zero": (rows["count"] == 0).sum(), "hidden": hidden.sum()}
    counts["above"] = (rows["count"] > 0).sum()
    if f"{COUNT}_sum" not in rows:
        return counts
    sums = rows.loc[hidden, f"{COUNT}_sum"]
    return counts | {"sums": (sums >= LEAST_SHOWN).sum(), "largest_sum": sums.max()}


def measured() -> Iterator[dict[str, Any]]:
    """Yield the rows of the record."""
    for table, name in FRIDAYS.items():
        rows = read_counts(name)
        counts = {"zero": (rows["count"] == 0).sum(), "hidden": rows["marked"].sum()}
        yield {"table": table, "by": "cells", "weeks": len(rows), **counts}
    fridays = read_counts(FRIDAYS["fifteen states"])
    for table, name in SUNDAYS.items():
        rows = overlapping(read_counts(name), fridays)
        zeros = rows[(rows["before"] == 0) & (rows["after"] == 0)]
        yield {"table": table, "by": "all", **counted(zeros)}
        for by, groups in {
            "beds": pd.cut(zeros["beds"], [*BED_GROUPS, np.inf], labels=[*BED_GROUPS.values()]),
            "quarter": zeros["week"].dt.to_period("Q").astype(str),
        }.items():
            for group, own in zeros.groupby(groups, observed=True):
                yield {"table": table, "by": by, "group": group, **counted(own)}
    values = hidden_averages(DATA / CENTRAL_TEXAS, f"{COUNT}_avg")
    known = {"number": len(values), "smallest": values.min(), "largest": values.max()}
    known |= {f"quartile {k}": np.quantile(values, k / 4) for k in (1, 2, 3)}
    for group, value in known.items():
        yield {"table": "Central Texas", "by": "hidden averages", "group": group, "value": value}


def plays() -> dict[str, Any]:
    """Return the settings of this record, which plays nothing."""
    return asked([], [FRIDAYS, SUNDAYS, COUNT, BEDS, MARK, LEAST_SHOWN, BED_GROUPS])


if __name__ == "__main__":
    pd.DataFrame(measured())[COLUMNS].to_csv(OUT, index=False, float_format="%.6g")
    note("hidden", plays())

"""Record how many zeros of the states' tables hide counts, as far as other tables tell.

    python verify/hidden.py

A Sunday's week overlaps two weeks of the states' tables, which begin on Fridays. Where a hospital
has 0 in both, Central Texas, whose sums and marks are certain, and the hospitals that are alone in
their county say whether its count was 0 or hidden. Counts both by hospital, beds and quarter; tries
whether a rule of one feature tells them apart, chosen on half of the weeks and tested on the other
half; and measures the hidden averages. Writes verify/runs/hidden.csv. Takes ten seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from made_with import asked, note
from numpy.typing import NDArray

from dpol.studies.robustness.zeros import MARK, hidden_averages

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
FEATURES = [
    *("beds", "mean count", "share of weeks above 0", "share of weeks marked"),
    *("days to a mark", "days to a mark or count"),
]
BED_GROUPS = {-1: "to 10", 10: "to 25", 25: "to 50", 50: "to 100", 100: "above 100"}
"""Names of the groups by beds, by what they are above."""
COLUMNS = [
    *("table", "by", "group", "weeks", "zero", "hidden", "above", "sums", "largest_sum"),
    *("right", "right_if_none", "right_if_all", "value"),
]


def read_counts(name: str) -> pd.DataFrame:
    """Return a table with its counts as `count`, nan where hidden or missing, and its `week`."""
    table = pd.read_parquet(DATA / name)
    count, week = table[f"{COUNT}_avg"], pd.to_datetime(table["collection_week"])
    table["hospital_pk"] = table["hospital_pk"].astype(str)
    return table.assign(marked=count == MARK, count=count.mask(count == MARK), week=week)


def features(fridays: pd.DataFrame) -> pd.DataFrame:
    """Return what a row of a table of Fridays, and its hospital, tell about a zero."""
    rows = fridays.sort_values(["hospital_pk", "week"]).reset_index(drop=True)
    of = rows["hospital_pk"]
    shown, above = rows["count"] > 0, rows["count"].where(rows["count"] > 0, 0)
    found = pd.DataFrame({"hospital_pk": of, "week": rows["week"], "count": rows["count"]})
    found["beds"] = rows[BEDS].groupby(of).transform("median")
    found["mean count"] = above.groupby(of).transform("mean")
    found["share of weeks above 0"] = shown.groupby(of).transform("mean")
    found["share of weeks marked"] = rows["marked"].groupby(of).transform("mean")
    for name, at in {"mark": rows["marked"], "mark or count": rows["marked"] | shown}.items():
        there = rows["week"].where(at).groupby(of)
        days = pd.concat([rows["week"] - there.ffill(), there.bfill() - rows["week"]], axis=1)
        found[f"days to a {name}"] = days.min(axis=1).dt.days.fillna(9999)
    return found


def overlapping(sundays: pd.DataFrame, fridays: pd.DataFrame) -> pd.DataFrame:
    """Return the Sundays with both overlapping Fridays, with their counts as `before`, `after`."""
    told = features(fridays)
    for side, days in (("before", -2), ("after", 5)):
        own = told.assign(week=told["week"] - pd.Timedelta(days=days), **{side: told["count"]})
        columns = own.columns.difference(["count"] if side == "before" else [*told.columns[2:]])
        sundays = sundays.merge(own[columns], on=["hospital_pk", "week"], how="left")
    return sundays


def counted(rows: pd.DataFrame) -> dict[str, Any]:
    """Return how many Sundays are 0, hidden and above 0, and what is known of the hidden sums."""
    hidden = rows["count"].isna()
    counts = {"weeks": len(rows), "zero": (rows["count"] == 0).sum(), "hidden": hidden.sum()}
    counts["above"] = (rows["count"] > 0).sum()
    if f"{COUNT}_sum" not in rows:
        return counts
    sums = rows.loc[hidden, f"{COUNT}_sum"]
    return counts | {"sums": (sums >= LEAST_SHOWN).sum(), "largest_sum": sums.max()}


def rules(rows: pd.DataFrame, halves: Mapping[str, NDArray[np.bool_]]) -> Iterator[dict[str, Any]]:
    """Yield the rule of one feature that is right most often on half of the weeks, and its test.

    Args:
        rows: Sundays that are 0 or hidden, with their features.
        halves: by name, which rows the rule is chosen on.
    """
    hidden = rows["count"].isna().to_numpy()
    for half, chosen in halves.items():
        tried = []
        for name in FEATURES:
            values = rows[name].to_numpy(float)
            for least in np.unique(values[chosen]):
                for says, word in ((values >= least, "at least"), (values < least, "below")):
                    right = (says == hidden)[chosen].mean()
                    tried.append((right, f"{name} {word} {least:.4g}", says))
        _, rule, says = max(tried, key=lambda it: it[0])
        tested = hidden[~chosen]
        yield {
            "by": half,
            "group": rule,
            "weeks": len(tested),
            "zero": (~tested).sum(),
            "hidden": tested.sum(),
            "right": (says[~chosen] == tested).mean(),
            "right_if_none": (~tested).mean(),
            "right_if_all": tested.mean(),
        }


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
        alone = zeros[zeros["days to a mark or count"] > 28]
        yield {"table": table, "by": "nothing else within four weeks", **counted(alone)}
        for by, groups in {
            "hospital": zeros["hospital_pk"],
            "beds": pd.cut(zeros["beds"], [*BED_GROUPS, np.inf], labels=[*BED_GROUPS.values()]),
            "quarter": zeros["week"].dt.to_period("Q").astype(str),
        }.items():
            for group, own in zeros.groupby(groups, observed=True):
                yield {"table": table, "by": by, "group": group, **counted(own)}
        told = zeros[~(zeros["count"] > 0)]
        weeks = told["week"].rank(method="dense").to_numpy()
        halves = {"every other week": weeks % 2 == 1, "first half": weeks <= weeks.max() / 2}
        yield from ({"table": table, **rule} for rule in rules(told, halves))
    values = hidden_averages(DATA / CENTRAL_TEXAS, f"{COUNT}_avg")
    yield {
        "table": "Central Texas",
        "by": "hidden averages",
        "group": "number",
        "value": len(values),
    }
    for quarter, group in enumerate(("smallest", "first quartile", "median", "third quartile")):
        value = np.quantile(values, quarter / 4)
        yield {"table": "Central Texas", "by": "hidden averages", "group": group, "value": value}
    yield {
        "table": "Central Texas",
        "by": "hidden averages",
        "group": "largest",
        "value": values.max(),
    }


def plays() -> dict[str, Any]:
    """Return the settings of this record, which plays nothing."""
    return asked([], [FRIDAYS, SUNDAYS, COUNT, BEDS, MARK, LEAST_SHOWN, BED_GROUPS])


if __name__ == "__main__":
    pd.DataFrame(measured())[COLUMNS].to_csv(OUT, index=False, float_format="%.6g")
    note("hidden", plays())

"""Four tables like those in real offices, each made from a seed, with the gains they stand for.

`python tests/tables_of_all_kinds.py FOLDER` writes them, and prints the commands to run each.
"""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A table.

    Args:
        file: name of its file.
        options: options of `dpol new dataset` that a second run needs.
        gains: (periods, entities) the expected gains, computed by pandas alone.
    """

    file: str
    options: tuple[str, ...] = ()
    gains: pd.DataFrame


def five(
    entity: str, period: str, count: str, capacity: str, *more: str, row: str = "number"
) -> tuple[str, ...]:
    """Return the options that answer the five questions, and more."""
    said = ("--entity", entity, "--period", period, "--count", count, "--capacity", capacity)
    return (*said, "--row", row, *more)


def _numbers(
    seed: int, entities: str, days: pd.DatetimeIndex, capacity: tuple[int, int], most: float
) -> tuple[pd.DataFrame, pd.Series]:
    """Return counts that rise and fall, and the capacity of each entity."""
    rng, names = np.random.default_rng(seed), sorted(entities.split())
    held = pd.Series(rng.integers(*capacity, len(names)), names)
    level = rng.uniform(0.25, 0.6, len(names))
    wave = 0.25 * np.sin(np.arange(len(days))[:, None] / 5 + rng.uniform(0, 6, len(names)))
    share = np.clip(level + wave + rng.normal(0, 0.05, (len(days), len(names))), 0.01, 0.95)
    return pd.DataFrame((share * most * held.to_numpy()).round(), days, names), held


def _long(counts: pd.DataFrame, entity: str, period: str, count: str) -> pd.DataFrame:
    return counts.rename_axis(period).reset_index().melt(period, var_name=entity, value_name=count)


def _library(folder: Path) -> Kind:
    """Write loans per seat, by branch and month."""
    days = pd.date_range("2021-01-01", periods=36, freq="MS")
    loans, seats = _numbers(1, "Central Docks Hill Meadow Riverside Station", days, (25, 120), 50)
    rows = _long(loans.astype(int), "branch", "month", "loans")
    rows["seats"] = rows["branch"].map(seats)
    rows["month"] = rows["month"].dt.strftime("%Y-%m")
    rows.to_csv(folder / "library.csv", index=False)
    return Kind(
        file="library.csv",
        options=five("branch", "month", "loans", "seats", "--at-most", "60"),
        gains=loans / seats,
    )


def _kliniken(folder: Path) -> Kind:
    """Write a table with semicolons, decimal commas, D.M.YYYY and Latin-1."""
    days = pd.date_range("2022-03-01", periods=80)
    beds_used, beds = _numbers(3, "Aachen Bonn Köln Münster Trier Ulm", days, (400, 1900), 1)
    beds_used += 0.5
    rows = _long(beds_used, "Klinik", "Datum", "Belegt")
    rows["Betten"] = rows["Klinik"].map(beds).map("{:,}".format).str.replace(",", ".")
    rows["Datum"] = [f"{day.day}.{day.month}.{day.year}" for day in rows["Datum"]]
    rows["Belegt"] = rows["Belegt"].map("{:.1f}".format).str.replace(".", ",")
    text = rows.to_csv(index=False, sep=";")
    (folder / "kliniken.csv").write_bytes(text.encode("latin-1"))
    return Kind(
        file="kliniken.csv",
        options=five("Klinik", "Datum", "Belegt", "Betten", "--decimal", ","),
        gains=beds_used / beds,
    )


def _messy(folder: Path) -> Kind:
    """Write spellings, duplicates, a negative number, empty capacities and hidden counts."""
    days = pd.date_range("2023-01-02", periods=60, freq="7D")
    ill, beds = _numbers(5, "Dover Kent Leeds Luton York", days, (20, 60), 0.5)
    rows = _long(ill.astype(int).astype(str), "town", "week", "ill")
    rows["beds"] = rows["town"].map(beds).astype(str)
    small = rows["ill"].astype(int) < 5
    rows.loc[small, "ill"] = "<5"
    clean = ill.mask(ill < 5, 2.0)
    at = rows.index[rows["town"].eq("Leeds")]
    rows.loc[at[7], "town"] = "LEEDS"
    rows.loc[at[9], "ill"] = "-3"
    clean.loc[days[9], "Leeds"] = clean.loc[days[8], "Leeds"]
    rows.loc[at[20:24], "beds"] = ""
    again = rows.loc[[at[30], at[31]]]
    again.loc[at[31], "ill"] = "9"
    clean.loc[days[31], "Leeds"] = 9
    pd.concat([rows, again]).to_csv(folder / "messy.csv", index=False)
    more = "--negative-counts", "missing", "--identifiers", "LEEDS=Leeds"
    options = five("town", "week", "ill", "beds", *more, row="last")
    return Kind(file="messy.csv", options=options, gains=clean / beds)


def _shelters(folder: Path) -> Kind:
    """Write a gzip table with M/D/YYYY, districts and rows of totals."""
    days = pd.date_range("2022-01-02", periods=60, freq="7D")
    guests, places = _numbers(8, "Arch Bay Cove Dale East Fort Gate Hope", days, (15, 80), 1)
    district = pd.Series(["Inner", "Outer"] * 4, guests.columns)
    rows = _long(guests.astype(int), "shelter", "week_of", "guests")
    rows["places"], rows["district"] = rows["shelter"].map(places), rows["shelter"].map(district)
    sums = rows.groupby(["week_of", "district"], as_index=False)[["guests", "places"]].sum()
    rows = pd.concat([rows, sums.assign(shelter="Total")])
    rows["week_of"] = [f"{day.month}/{day.day}/{day.year}" for day in rows["week_of"]]
    text = io.BytesIO()
    rows.to_csv(text, index=False)
    (folder / "shelters-2022.csv.gz").write_bytes(gzip.compress(text.getvalue(), mtime=0))
    return Kind(
        file="shelters-2022.csv.gz",
        options=five("shelter", "week_of", "guests", "places"),
        gains=guests / places,
    )


MAKERS: tuple[Callable[[Path], Kind], ...] = (_library, _kliniken, _messy, _shelters)


def write_tables(folder: Path) -> list[Kind]:
    """Write the four tables into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return [make(folder) for make in MAKERS]


if __name__ == "__main__":
    for kind in write_tables(Path(sys.argv[1])):
        print("dpol new dataset", kind.file, *kind.options)
        print(f"dpol run {kind.file.partition('.')[0]}.yaml --cores 2")

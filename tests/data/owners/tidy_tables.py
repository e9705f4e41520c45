"""Tables with a row for each place and period, written as their owners all over the world do."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from worlds import PLACES, Table, dated, gains, table, world

SEP, FORMAT = "dataset.read.sep", "dataset.periods.format"
DECIMAL, THOUSANDS = "dataset.read.decimal", "dataset.read.thousands"
MISSING, HIDDEN = "dataset.cleaning.missing_markers", "dataset.cleaning.suppressed_markers"
SEVERAL, OF = "dataset.cleaning.several_rows", "dataset.periods.of"
DROP = "dataset.cleaning.drop_where"
GERMAN = "Klinik Woche Fälle Betten"


def points(numbers: pd.Series, sign: str) -> pd.Series:
    """Write whole numbers with a sign between groups of three digits."""
    return numbers.map(lambda number: f"{number:,}".replace(",", sign))


def tidy(seed: int) -> Iterator[Table]:
    """Draw the tidy tables."""
    new = partial(world, seed)
    # Files.
    yield table("shelters", new("shelters"), columns="shelter week guests places")
    columns = "school week absent pupils"
    yield table("schools ;", new("schools"), columns=columns, sep=";", knows={SEP: ";"})
    yield table("libraries tsv", new("libraries"), kind="tsv", sep="\t")
    yield table("gzip", new("gzip"), kind="csv.gz")
    yield table("parquet dates", rows := new("parquet"), rows, kind="parquet")
    yield table("workbook", rows := new("workbook"), rows, kind="xlsx")
    rows, notes = new("sheets"), pd.DataFrame({"about": ["Counts of guests."]})
    shown, known = {"About": notes, "Data": rows}, {"dataset.read.sheet_name": "Data"}
    yield table("two sheets", rows, shown, kind="xlsx", knows=known)
    for encoding in ("utf-8-sig", "cp1252", "utf-16"):
        told = {} if encoding == "utf-8-sig" else {"dataset.read.encoding": encoding}
        rows = new(encoding, places=["Mühldorf", "Köln", "Öhringen", "Straße"])
        yield table(f"umlauts {encoding}", rows, columns=GERMAN, encoding=encoding, knows=told)
    known = {"dataset.read.skiprows": 2}
    yield table("title rows", new("title rows"), above="Guests of shelters\n\n", knows=known)
    known = {"dataset.read.skipfooter": 1}
    yield table("footer", new("footer"), below="Source: city council\n", knows=known)
    rows = new("trailing")
    shown = dated(rows).assign(**{"": "", " ": ""})
    yield table("trailing semicolons", rows, shown, sep=";", told={SEP: ";"})
    yield table("blank rows at the end", rows, below=",,,\n,,,\n\n")
    yield table("unsorted", rows := new("unsorted"), dated(rows.sample(frac=1, random_state=seed)))
    # Dates.
    formats = {
        "%d.%m.%Y": "week", "%m/%d/%Y": "week", "%d/%m/%Y": "week", "%Y%m%d": "week",
        "%Y年%m月%d日": "week", "%G-W%V": "week",
        "KW %V/%G": "week", "%b %Y": "month", "%d.%m.%Y %H:%M": "day",
    }  # fmt: skip
    for signs, calendar in formats.items():
        rows = new(signs, calendar)
        shown, known = dated(rows, signs), {FORMAT: signs}
        yield table(f"dates {signs}", rows, shown, calendar=calendar, knows=known)
    rows = new("short")
    shown = rows.assign(day=[f"{day.day}.{day.month}.{day.year}" for day in rows["day"]])
    yield table("short German dates", rows, shown, knows={FORMAT: "%d.%m.%Y"})
    yield table("times of UTC", rows := new("utc"), dated(rows, "%Y-%m-%dT00:00:00Z"))
    for calendar in ("saturday", "fortnight", "day", "month", "year"):
        yield table(f"calendar {calendar}", new(calendar, calendar), calendar=calendar)
    rows = new("zone")
    shown = rows.assign(day=rows["day"].dt.tz_localize("Europe/Berlin"))
    yield table("parquet with a time zone", rows, shown, kind="parquet")
    # Numbers.
    rows = new("averages").assign(count=lambda t: t["count"] * 0.5)
    yield table("decimal commas", rows, sep=";", decimal=",", knows={SEP: ";", DECIMAL: ","})
    for sign, key in {".": ".", "\u00a0": " "}.items():
        rows = new(f"thousands {sign}", beds=(700, 9000))
        text = {name: points(rows[name], sign) for name in ("count", "beds")}
        told, known = {SEP: ";"}, {THOUSANDS: key, DECIMAL: ","}
        shown = dated(rows).assign(**text)
        yield table(f"thousands {key!r}", rows, shown, sep=";", told=told, knows=known)
    rows = new("flu", beds=(90, 400)).assign(beds=lambda t: t["beds"] * 12345)
    truth = (gains(rows) * 1e5).clip(upper=100)
    told = {"gain.at_most": 100, "dataset.columns.capacity_per": 100000}
    yield table("flu per 100,000", rows, truth=truth, told=told)
    # Missing and hidden counts.
    rows = new("small", beds=(8, 20))
    hidden = rows["count"].lt(5)
    shown = dated(rows).assign(count=rows["count"].astype(str).mask(hidden, "<5"))
    rows["count"] = rows["count"].mask(hidden, 2)
    yield table("hidden <5", rows, shown, knows={HIDDEN: ["<5"]})
    rows = new("gaps")
    gap = rows.index.isin(np.random.default_rng(seed).choice(len(rows) - 10, 3, replace=False) + 5)
    lost = rows.assign(count=rows["count"].mask(gap))
    shown = dated(rows).assign(count=rows["count"].astype(str).mask(gap, "k.A."))
    yield table("missing k.A.", lost, shown, knows={MISSING: ["", "k.A."]})
    yield table("empty cells", lost, dated(lost))
    yield table("missing rows", lost, dated(rows[~gap]))
    yield table("missing capacities", rows, dated(rows).assign(beds=rows["beds"].mask(gap)))
    late = (rows["place"] == "East") & (rows["day"] < rows["day"].unique()[2])
    yield table("late joiner", rows.assign(count=rows["count"].mask(late)), dated(rows[~late]))
    # Places.
    yield table("leading zeros", new("codes", places=["007", "010", "100", "7"]))
    yield table("Namibia", new("Namibia", places=["NA", "BW", "ZA", "ZM"]))
    yield table("no capacities", new("no capacities"), bound=200)
    rows = new("groups")
    inner = rows["place"].isin(PLACES[:3])
    shown = dated(rows).assign(region=np.where(inner, "in", "out"))
    told = {"dataset.columns.group": "region", "streams.table.groups": ["in"]}
    yield table("groups", rows[inner], shown, told=told)
    rows = new("names", places=["1", "2", "3", "4"])
    shown = dated(rows).assign(title="Ward " + rows["place"])
    yield table("numbers and names", rows, shown, told={"dataset.columns.name": "title"})
    # Several rows.
    rows = new("equal rows")
    yield table("equal rows", rows, dated(pd.concat([rows, rows[3:9]])))
    shown = pd.concat([dated(rows).assign(count=rows["count"] - 1)[5:12], dated(rows)])
    yield table("revisions", rows, shown, knows={SEVERAL: "last"})
    rows = new("sex")
    women = np.random.default_rng(seed).binomial(rows["count"], 0.5)
    sexes = {"f": women, "m": rows["count"] - women}
    shown = pd.concat([dated(rows).assign(count=part, sex=sex) for sex, part in sexes.items()])
    yield table("rows by sex", rows, shown, knows={SEVERAL: "sum"})
    rows = new("care", "day")
    weeks = rows.assign(day=rows["day"].dt.to_period("W").dt.start_time)
    average = weeks.groupby(["place", "day"], as_index=False)[["count", "beds"]].mean()
    yield table("intensive care, weeks of days", average, dated(rows), knows={OF: "mean"})
    total = weeks.groupby(["place", "day"], as_index=False)["count"].sum()
    yield table("trips, weeks of days", total, dated(rows), bound=1000, knows={OF: "sum"})
    rows = new("weekdays")
    shift = pd.to_timedelta(rows["place"].map(PLACES.index), unit="D")
    shown = dated(rows.assign(day=rows["day"] + shift))
    yield table("other weekdays", rows, shown, knows={OF: "last"})
    rows = new("bikes", "day", beds=(60, 90))
    hours = [(0, 0), (8, 2), (16, 1)]
    parts = [rows.assign(day=rows["day"] + pd.Timedelta(hour, "h"), by=by) for hour, by in hours]
    shown = dated(pd.concat(parts), "%Y-%m-%d %H:%M:%S").assign(
        count=lambda t: t["count"] + t["by"]
    )
    rows["count"] += 1
    yield table("bikes by hour", rows, shown, calendar="day", knows={SEVERAL: "mean"})
    rows = new("shifts")
    early = np.random.default_rng(seed).binomial(rows["count"], 0.5)
    shown = dated(pd.concat([rows.assign(count=early), rows.assign(count=rows["count"] - early)]))
    known, line = {SEVERAL: "sum"}, "they are parts"
    yield table("two shifts without their names", rows, shown, knows=known, line=line)
    fixes = rows[rows["count"] > 9].sample(9, random_state=seed)
    before = rows["count"] + 2 * rows.index.isin(fixes.index)
    shown = dated(pd.concat([rows.assign(count=before), fixes.assign(count=-2)]))
    yield table("corrections as rows", rows, shown, knows=known, expect="refused: negative")
    # Meaning.
    rows = new("full").assign(count=lambda t: t["count"] + (t.index % 40 == 7) * t["beds"])
    yield table("above capacity", rows, truth=gains(rows), knows={"dataset.cleaning.above": "cut"})
    rows = new("corrections", beds=(60, 90))
    shown = dated(rows).assign(count=rows["count"].where(rows.index != 33, -3))
    rows["count"] = rows["count"].where(rows.index != 33)
    known = {"dataset.cleaning.negative_counts": "missing"}
    yield table("negative correction", rows, shown, knows=known)
    rows = new("closed")
    shut = rows.index.isin([17, 22, 27])
    truth = gains(rows.assign(count=rows["count"].mask(shut, 0)))
    shown = dated(rows).assign(beds=rows["beds"].mask(shut, 0))
    known = {"dataset.cleaning.capacity_zero": "absent"}
    yield table("closed ward", rows, shown, truth=truth, knows=known)
    for slack in (0, 0.01):
        rows = new(f"totals {slack}", beds=(200, 900))
        sums = rows.groupby("day", as_index=False)[["count", "beds"]].sum().assign(place="All")
        sums["count"] = (sums["count"] * (1 + slack)).round().astype(int)
        shown = dated(pd.concat([rows, sums]))
        yield table(f"total {slack:.0%} above", rows, shown, knows={DROP: {"place": "All"}})
    rows = new("decimals").assign(count=lambda t: t["count"] + 0.25)
    known = {"dataset.cleaning.checked": ["rates"]}
    yield table("averages without capacity", rows, bound=200, knows=known)

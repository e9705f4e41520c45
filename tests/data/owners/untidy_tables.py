"""Tables that are not tidy, as their owners all over the world have them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from tidy_tables import DECIMAL, DROP, FORMAT, HIDDEN, OF, THOUSANDS, points
from worlds import PLACES, Table, dated, table, world

MONTHS = {
    "French": "janv. févr. mars avr. mai juin juillet août sept. oct. nov. déc.",
    "German": "Jan. Febr. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.",
}


def wide(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Write the counts with a column for each place or date."""
    index = "day" if column == "place" else "place"
    return dated(rows).pivot(index=index, columns=column, values="count").reset_index()


def untidy(seed: int) -> Iterator[Table]:
    """Draw the untidy tables."""
    new = partial(world, seed)
    rng = np.random.default_rng(seed)
    # Layouts.
    for column in ("place", "day"):
        rows, line = new(f"wide {column}"), "its own column"
        yield table(f"a column for each {column}", rows, wide(rows, column), bound=200, line=line)
    rows = new("units")
    shown = dated(rows).astype(str)
    unit = pd.DataFrame([{"place": "", "day": "Monday", "count": "people", "beds": "number"}])
    yield table("units in the first row", rows, pd.concat([unit, shown]), line="units stand")
    rows = new("merged").sort_values(["place", "day"])
    shown = dated(rows).assign(place=rows["place"].mask(rows["place"].duplicated()))
    yield table("a name only in its first row", rows, shown, line="its first row")
    rows = new("sheets")
    yield table(
        "a sheet for each place",
        rows,
        {key: dated(part).drop(columns="place") for key, part in rows.groupby("place")},
        kind="xlsx",
        columns="sheet day count beds",
        line="each sheet",
    )
    rows = new("measures")
    shown = dated(rows).melt(["place", "day"], ["count", "beds"], "measure", "value")
    yield table("measures in one column", rows, shown, line="several measures")
    rows = new("footers")
    note = pd.DataFrame([{"place": "Note: 2023 is provisional"}])
    shown = pd.concat([dated(rows), note])
    yield table("a note as a row", rows, shown, knows={"dataset.read.skipfooter": 1})
    sums = rows.groupby("place", as_index=False)[["count"]].sum().assign(day="Total")
    shown = pd.concat([dated(rows), sums])
    yield table("a total of each place", rows, shown, knows={DROP: {"day": "Total"}})
    # Totals.
    rows = new("total")
    sums = rows.groupby("day", as_index=False)[["count", "beds"]].sum().assign(place="Kanton")
    noisy = sums.assign(
        count=(sums["count"] * rng.uniform(0.99, 1.01, len(sums))).round().astype(int)
    )
    known = {DROP: {"place": "Kanton"}}
    yield table("total about the sum", rows, dated(pd.concat([rows, noisy])), knows=known)
    shown = dated(pd.concat([rows, sums]))
    yield table("total without capacities", rows, shown, knows=known, bound=1000)
    shown = dated(pd.concat([rows, sums[8:]]))
    yield table("total in half of the periods", rows, shown, knows=known)
    inner = rows["place"].isin(PLACES[:3])
    parts = [
        part.groupby("day", as_index=False)[["count", "beds"]].sum().assign(place=name)
        for name, part in (("Inner", rows[inner]), ("Outer", rows[~inner]))
    ]
    known = {DROP: {"place": ["Inner", "Outer", "Kanton"]}}
    # Without a total of all, subtotals stay to the eye, as docs/how-to/add-dataset.md says.
    yield table("subtotals", rows, dated(pd.concat([rows, *parts])), expect="to the eye")
    yield table("subtotals and a total", rows, dated(pd.concat([rows, *parts, sums])), knows=known)
    small = new("hidden parts", beds=(8, 20))
    low = small["count"].lt(5)
    sums = small.groupby("day", as_index=False)[["count", "beds"]].sum().assign(place="Kanton")
    shown = pd.concat(
        [dated(small).assign(count=small["count"].astype(str).mask(low, "<5")), dated(sums)]
    )
    small["count"] = small["count"].mask(low, 2)
    known = {HIDDEN: ["<5"], DROP: {"place": "Kanton"}}
    yield table("total of hidden parts", small, shown, knows=known)
    share = rng.binomial(rows["count"], 0.5)
    sexes = [
        dated(rows).assign(sex=sex, count=count)
        for sex, count in (("f", share), ("m", rows["count"] - share), ("all", rows["count"]))
    ]
    known = {DROP: {"sex": ["f", "m"]}}
    yield table("rows by sex with a total", rows, pd.concat(sexes), knows=known)
    # Names.
    rows = new("names")
    odd = rng.random(len(rows)) < 0.2
    shown = dated(rows).assign(place=rows["place"].where(~odd, rows["place"].str.upper()))
    yield table("names differing in case", rows, shown, expect="refused: one name")
    many = new("many", places=[f"Ward {number}" for number in range(1, 31)])
    once = many["place"].where(many.index != 200, many["place"].str.upper())
    shown = dated(many).assign(place=once)
    yield table("one name in capitals", many, shown, expect="said", said="has no row")
    # Dates.
    rows = new("codes", periods=12)
    yield table("weeks like 202301", rows, dated(rows, "%G%V"), knows={FORMAT: "%G%V"})
    rows = new("iso weeks", start="2022-11-07")
    parts = rows["day"].dt.isocalendar()
    shown = rows.assign(YEAR=parts["year"], WEEK=parts["week"]).drop(columns="day")
    yield table("YEAR and WEEK of ISO", rows, shown, line="year and week")
    rows = new("mmwr", "sunday", start="2022-11-06")
    middle = rows["day"] + pd.Timedelta(3, "D")
    year = middle.dt.year
    week = (middle.dt.day_of_year - 1) // 7 + 1
    shown = rows.assign(YEAR=year, WEEK=week).drop(columns="day")
    yield table("YEAR and WEEK of MMWR", rows, shown, line="from Sunday")
    for language, names in MONTHS.items():
        rows = new(language, "month")
        months = names.split()
        shown = rows.assign(day=[f"{months[day.month - 1]} {day.year}" for day in rows["day"]])
        expect = f"refused: {months[6]} 2022"
        yield table(f"{language} months", rows, shown, calendar="month", expect=expect)
    rows = new("fiscal", "year", start="2008-04-01")
    shown = rows.assign(day=[f"{day.year}/{day.year % 100 + 1:02}" for day in rows["day"]])
    yield table("fiscal years", rows, shown, calendar="year", line="begin in April", near=91)
    rows = new("quarters", "quarter")
    shown = rows.assign(day=[f"Q{day.quarter} {day.year}" for day in rows["day"]])
    yield table("quarters", rows, shown, calendar="quarter", line="quarters")
    rows = new("formats")
    early = rows["day"] < rows["day"].unique()[8]
    shown = pd.concat([dated(rows[early]), dated(rows[~early], "%d.%m.%Y")])
    yield table("format changes midway", rows, shown, expect="refused: '27.02.2023'")
    daily = new("both formats", "day", periods=40)
    early = daily["day"] < daily["day"].unique()[20]
    shown = pd.concat([dated(daily[early], "%d/%m/%Y"), dated(daily[~early], "%m/%d/%Y")])
    british = {FORMAT: "%d/%m/%Y"}
    yield table("day and month swap midway", daily, shown, knows=british, expect="refused: ")
    until = rows["day"] + pd.Timedelta(6, "D")
    first, last = (day.dt.strftime("%d.%m.%Y") for day in (rows["day"], until))
    shown = rows.assign(day=first + "-" + last)
    yield table("ranges", rows, shown, knows={FORMAT: "%d.%m.%Y"}, line="begins with the date")
    shown = rows.assign(day=(rows["day"] - pd.Timestamp("1899-12-30")).dt.days)
    yield table("days of Excel", rows, shown, line="days of Excel")
    swapped = [
        pd.Timestamp(day.year, day.day, day.month) if day.day <= 12 else f"{day:%d/%m/%Y}"
        for day in rows["day"]
    ]
    shown = rows.assign(day=swapped)
    yield table("swapped by Excel", rows, shown, kind="xlsx", knows=british, expect="refused: ")
    rows = new("month ends", "month")
    shown = dated(rows.assign(day=rows["day"] + pd.offsets.MonthEnd()))
    yield table("month ends", rows, shown, calendar="month", line="Write that day")
    # Calendars.
    rows = new("shift", periods=20)
    late = rows["day"] > rows["day"].unique()[9]
    shown = dated(rows.assign(day=rows["day"] + pd.to_timedelta(6 * late, unit="D")))
    yield table("weeks begin on another day midway", rows, shown, knows=known, near=6)
    daily = new("daily then weekly", "day", periods=28)
    coarse = daily["day"].dt.to_period("W").dt.start_time
    late = daily["day"] >= daily["day"].unique()[14]
    weekly = daily["day"] == coarse
    shown = dated(daily[weekly | ~late])
    yield table("daily, then weekly", daily[weekly], shown, expect="refused: periods?")
    months = new("monthly then weekly", "month", periods=6)
    weeks = new("monthly then weekly", start="2023-01-02", periods=10)
    shown = dated(pd.concat([months, weeks]))
    said = "periods missing"
    yield table("monthly, then weekly", months, shown, expect="said", said=said)
    business = new("business days", "day")
    business = business[business["day"].dt.day_of_week < 5]
    weeks = business.assign(day=business["day"].dt.to_period("W").dt.start_time)
    weeks = weeks.groupby(["place", "day"], as_index=False)[["count", "beds"]].mean()
    yield table("business days", weeks, dated(business), knows={OF: "mean"})
    # Numbers.
    rows = new("numbers")
    shares = rows["count"] / rows["beds"]
    shown = dated(rows).assign(count=shares.map("{:.0%}".format))
    yield table("percentages", rows, shown, expect="refused: %")
    shown = dated(rows).assign(count=shares.round(4))
    yield table("shares beside capacities", rows, shown, expect="refused: share")
    big = new("mixed points", beds=(700, 1400))
    known = {THOUSANDS: ".", DECIMAL: ","}
    shown = dated(big).assign(count=points(big["count"], "."), beds=points(big["beds"], "."))
    yield table("points between some thousands", big, shown, knows=known)
    huge = new("all points", beds=(12000, 60000))
    shown = dated(huge).assign(count=points(huge["count"], "."))
    yield table("points, no capacity", huge, shown, bound=60000, knows=known)
    text = rows["count"].astype(str)
    shown = dated(rows).assign(count=text.mask(odd, text + "*"))
    yield table("signs behind numbers", rows, shown, line="other signs")
    shown = dated(rows).assign(beds=rows["beds"].astype(str) + " beds")
    yield table("words behind numbers", rows, shown, line="other signs")
    zero = rows.assign(count=rows["count"].mask(odd, 0))
    shown = dated(rows).assign(count=text.mask(odd, "-"))
    yield table("dash means 0", zero, shown, line="means 0")
    carry = {"dataset.cleaning.max_carry": 0, "dataset.cleaning.max_zeroed": 1}
    shown = dated(rows).assign(count=rows["count"].mask(odd))
    yield table("blank means 0", zero, shown, knows=carry)
    yield table("absent rows mean 0", zero, dated(zero[~odd]), knows=carry)
    mixed = rows.assign(count=rows["count"] * 0.5)
    text = mixed["count"].map("{:.1f}".format)
    shown = dated(mixed).assign(count=text.mask(odd, text.str.replace(".", ",")))
    yield table("both decimal signs", mixed, shown, knows={DECIMAL: ","}, expect="refused: decimal")
    small = new("ranges", beds=(6, 14))
    low = small["count"].between(1, 4)
    small["count"] = small["count"].mask(low, 2)
    shown = dated(small).assign(count=small["count"].astype(str).mask(low, "1-4"))
    yield table("hidden 1-4 and 0", small, shown, knows={HIDDEN: ["1-4"]})
    shown = dated(small).assign(count=small["count"].mask(low))
    known, expect = {HIDDEN: [""]}, "refused: missing_markers"  # which has the blank by default
    yield table("blank means hidden", small, shown, knows=known, expect=expect)
    # Sums and people.
    sums = rows.assign(count=rows.groupby("place")["count"].cumsum())
    yield table("totals to date", rows, dated(sums), bound=2000, line="what was added")
    sums.loc[37, "count"] -= 25
    expect, line = "refused: to date|negative", "what was added"
    yield table(
        "totals to date, corrected", rows, dated(sums), bound=2000, expect=expect, line=line
    )
    year = new("totals of the year", start="2022-10-03")
    sums = year.assign(count=year.groupby(["place", year["day"].dt.year])["count"].cumsum())
    expect = "refused: to date"
    yield table("totals of the year to date", year, dated(sums), bound=2000, expect=expect)
    events = rows.loc[rows.index.repeat(rows["count"]), ["place", "day"]]
    yield table("a row for each event", rows, dated(events), bound=200, line="is an event")
    expect = "refused: one column"
    yield table("events without a date", rows, events[["place"]], bound=200, expect=expect)
    length = pd.to_timedelta(rng.integers(1, 20, len(events)), unit="D")
    stays = dated(events).rename(columns={"day": "admitted"})
    stays["discharged"] = (events["day"] + length).dt.strftime("%F")
    yield table("stays", rows, stays, bound=200, expect="refused: day")
    first = rows.assign(count=rows["count"] - 1, report=1)[10:30]
    shown = dated(pd.concat([rows.assign(report=2), first]))
    yield table("revisions, newest first", rows, shown, expect="refused: several_rows")

"""Tables as owners have them that mean something else than they seem to; numbers are made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

Table = pd.DataFrame


def wards(
    n: int = 12, periods: int = 60, seed: int = 1, beds: tuple[int, int] = (20, 200)
) -> Table:
    """Return patients and beds of wards, week by week."""
    rng, lines = np.random.default_rng(seed), []
    for i in range(n):
        held, x = int(rng.integers(*beds)), rng.normal()
        for day in pd.date_range("2023-01-02", periods=periods, freq="7D"):
            x = 0.9 * x + 0.4 * rng.normal()
            share = 1 / (1 + np.exp(-(x - 0.4 + 0.08 * i)))
            lines.append((f"Ward {i + 1:02d}", day, int(rng.binomial(held, share)), held))
    return pd.DataFrame(lines, columns=["place", "week", "patients", "beds"])


def told(text: str = "") -> list[str]:
    """Return the options in a text, and those that answer the other of the five questions."""
    said = text.split()
    capacity = "none" if "--at-most" in said else "beds"
    five = {"--entity": "place", "--period": "week", "--count": "patients"}
    five |= {"--capacity": capacity, "--row": "number"}
    return [word for key, it in five.items() if key not in said for word in (key, it)] + said


def changed(where: Callable[[Table], object], **columns: object) -> Table:
    """Return wards, of which some rows have other numbers: each a value or a function of rows."""
    t = wards().astype({"patients": object, "beds": object})
    rows = where(t)
    for name, value in columns.items():
        t.loc[rows, name] = value(t[rows]) if callable(value) else value
    return t


def place(name: str) -> Callable[[Table], object]:
    return lambda t: t["place"] == name


def counts_only(t: Table) -> Table:
    return t[["place", "week", "patients"]]


def with_whole(
    t: Table, name: str, by: tuple[str, ...] = ("week",), factor: float = 1, more: float = 0
) -> Table:
    """Add a row for each period that holds `factor` times the others, and `more`."""
    numbers = [it for it in ("patients", "beds") if it in t]
    whole = t.groupby([*by], as_index=False)[numbers].sum()
    whole[numbers] = (factor * whole[numbers] + more).round().astype(int)
    return pd.concat([t, whole.assign(place=name)], ignore_index=True)


def halves(t: Table) -> Table:
    """Cut each count into two parts whose label was not exported."""
    first = t["patients"] // 2
    return pd.concat(
        [t.assign(patients=first), t.assign(patients=t["patients"] - first)]
    ).sort_index(kind="stable")


def equal_parts() -> Table:
    return halves(counts_only(wards(6, 52, 65, (6, 14))))


def unnamed_ages() -> Table:
    t, rng = wards(7, 52, 4, (15, 60)), np.random.default_rng(4)
    cut = rng.multinomial(t["patients"], [0.25] * 4)
    return pd.concat([t.assign(patients=cut[:, k]) for k in range(4)]).sort_index(kind="stable")


def twice() -> Table:
    return pd.concat([wards(6), wards(6)], ignore_index=True)


def sexes(unknown: float = 0.02) -> Table:
    """Return the French form: sex 1, 2, and 0, which holds both and a few more."""
    t = wards(6, 40, 3, (60, 200))
    men = (t["patients"] * 0.45).astype(int)
    both = (t["patients"] * (1 + unknown)).round().astype(int)
    parts = (both, men, t["patients"] - men)
    return pd.concat([t.assign(sexe=k, patients=part) for k, part in enumerate(parts)])[
        ["place", "week", "sexe", "patients"]
    ]


def shelters() -> Table:
    """Return a programme that counts beds, and one that counts rooms."""
    t = wards(11, 90, 7).rename(columns={"patients": "OCCUPIED", "beds": "ACTUAL"}).astype(object)
    t.loc[t["place"] > "Ward 06", "ACTUAL"] = ""
    return t


def corrected_totals_to_date() -> Table:
    t, rng = wards(9), np.random.default_rng(6)
    t["patients"] = t.groupby("place")["patients"].cumsum()
    t.loc[rng.random(len(t)) < 0.06, "patients"] -= 60
    return counts_only(t.assign(patients=t["patients"].clip(lower=0)))


def schools(levels: bool = True) -> Table:
    """Return English statistics: the week in words beside a year, and levels of a geography."""
    t = wards(8, 30, 12)
    week = t["week"].dt.isocalendar()
    t = t.assign(time_period=week["year"], time_identifier="Week " + week["week"].astype(str))
    t["geographic_level"] = "Local authority"
    upper = t.groupby(["time_period", "time_identifier", "week"], as_index=False)[
        ["patients", "beds"]
    ].sum()
    upper = upper.assign(place="", geographic_level="National")
    t = pd.concat([t, upper]) if levels else t
    return t.rename(columns={"place": "la_name"})[
        ["time_period", "time_identifier", "geographic_level", "la_name", "patients", "beds"]
    ]


def free_and_occupied() -> Table:
    t = wards(8, 40, 14)
    return t.assign(free=t["beds"] - t["patients"]).drop(columns="beds")


def one_name() -> Table:
    t = wards(8, 40, 15).assign(city="Ulm")
    t.loc[t["place"] == "Ward 08", "city"] = "Bonn"
    return t.assign(place=t["place"].replace("Ward 08", "Ward 07"))


def zeros_for_missing(every: int = 13) -> Table:
    nth = lambda t: (t["week"].rank(method="dense") % every) == 0  # noqa: E731
    return changed(nth, patients=0)


def in_utc() -> Table:
    t = wards()
    return t.assign(week=(t["week"] - pd.Timedelta(hours=1)).dt.strftime("%Y-%m-%dT%H:%M:%S.000Z"))


def renamed(t: Table) -> Table:
    """Return a ward under another name from the middle on."""
    late = (t["place"] == "Ward 05") & (t["week"] > "2023-07-01")
    return t.assign(place=t["place"].mask(late, "St Mary"))


def negative() -> Table:
    return changed(lambda t: t.index == 70, patients=-3)


def three_sites() -> Table:
    """Return wards of three sites: of 128 patients in the fullest week 57, 45 and 26."""
    t = wards(6)
    shares = (t["patients"] * 0.45).astype(int), (t["patients"] * 0.35).round().astype(int)
    sites = (*shares, t["patients"] - sum(shares))
    beds = (t["beds"] - 20, 10, 10)
    return pd.concat([t.assign(site=k, patients=sites[k], beds=beds[k]) for k in range(3)])


def monthly() -> Table:
    t = wards(5, 30, 21)
    months = pd.Series(
        pd.date_range("2021-01-01", periods=30, freq="MS"), sorted(t["week"].unique())
    )
    return t.assign(week=t["week"].map(months))


def month_names() -> Table:
    t = monthly()
    return t.assign(year=t["week"].dt.year, month=t["week"].dt.month_name()).drop(columns="week")


def write_workbook(path: Path) -> None:
    """Write two sheets: notes, and clinics with a title, two spellings, a gap and an error."""
    t = wards(5, 52, 31, (60, 200)).rename(
        columns={"place": "Clinic", "week": "Week", "patients": "Seen", "beds": "Slots"}
    )
    t["Clinic"] = t["Clinic"].replace("Ward 03", "Elm Street")
    cells = t.astype(object)
    cells.loc[120, "Clinic"] = "elm street"
    cells.loc[130, "Seen"] = "n/a"
    cells.loc[140, "Seen"] = 9000
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"Notes": ["made by the office"]}).to_excel(book, sheet_name="Notes")
        cells.to_excel(book, sheet_name="Data", startrow=2, index=False)


def one_member() -> Table:
    t = wards()
    return pd.concat([t, t[t["place"] == "Ward 09"].assign(place="Isles")])


def average() -> Table:
    t = wards()
    mean = t.groupby("week", as_index=False)[["patients", "beds"]].mean()
    return pd.concat([t, mean.round({"patients": 1, "beds": 1}).assign(place="ENGLAND")])


def wide(**columns: object) -> Table:
    t = wards(5)
    return t.pivot(index="week", columns="place", values="patients").reset_index().assign(**columns)

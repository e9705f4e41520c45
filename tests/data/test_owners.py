"""Owners who answer truthfully, and only what is asked, get the panel that their tables mean.

Each table has the panel that it means, and what its owner knows; the numbers are made up. `PUBLIC`
has the structure of published tables, `HABITS` what people do to theirs. They were written from the
kinds that were found in tables of owners, without a look at the code that reads them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpol.config.experiment import load_experiment
from dpol.data.cleaning import clean_table
from in_process import command

# fmt: off
FIVE = {"entity": "place", "period": "week", "count": "patients", "capacity": "beds",
    "row": "number"}


@dataclass(frozen=True)
class Owned:
    """A file, the panel that it means (NaN: not known), and what its owner knows."""

    content: bytes
    panel: pd.DataFrame
    knows: dict[str, str]
    name: str = "table.csv"


def base(n: int = 6, periods: int = 60, every: str = "7D", first: str = "2023-01-02",
    size: int = 200) -> pd.DataFrame:
    """Wards with beds and patients, a row for each ward and week."""
    r = np.random.default_rng(n * 1000 + periods)
    days = pd.date_range(first, periods=periods, freq=every)
    rows = []
    for i in range(n):
        beds, x = int(r.integers(size // 10, size)), r.normal()
        for day in days:
            x = 0.9 * x + 0.4 * r.normal()
            rows.append((f"Ward {i + 1:02d}", day, int(r.binomial(beds,
                1 / (1 + np.exp(0.4 - x - 0.08 * i)))), beds))
    return pd.DataFrame(rows, columns=["place", "week", "patients", "beds"])


def own(
    table: pd.DataFrame | str | bytes | dict[str, pd.DataFrame],
    panel: pd.DataFrame,
    *,
    name: str = "table.csv",
    top: str = "",
    end: str = "",
    encoding: str = "utf-8",
    sep: str = ",",
    header: bool = True,
    **knows: str,
) -> Owned:
    """Write a table, with what stands above and below it; `knows` adds to the answers of `base`."""
    if isinstance(table, dict):
        file = BytesIO()
        with pd.ExcelWriter(file) as book:
            for sheet, part in table.items():
                part.to_excel(book, sheet_name=sheet, index=False, header=header)
        content, name = file.getvalue(), "table.xlsx"
    elif isinstance(table, pd.DataFrame) and name.endswith(".parquet"):
        content = table.to_parquet(index=False)
    elif isinstance(table, bytes):
        content = table
    else:
        text = table if isinstance(table, str) else table.to_csv(index=False, sep=sep,
            header=header, date_format="%Y-%m-%d")
        content = (top + text + end).encode(encoding)
    first = {"first": f"{panel.week.min():%Y-%m-%d}"} if len(panel) else {}
    known = {k.removesuffix("_").replace("_", "-"): v for k, v in (FIVE | first | knows).items()
        if v or k in ("suppressed", "missing")}
    return Owned(content, panel, known, name)


def dated(t: pd.DataFrame, text: str | Callable[[pd.Timestamp], object]) -> pd.DataFrame:
    return t.assign(week=[f"{d:{text}}" if isinstance(text, str) else text(d) for d in t.week])


def marked(t: pd.DataFrame, mark: Callable[[int], object], rows: int | slice = 1,
    column: str = "patients") -> pd.DataFrame:
    """`t` with a text made of the number in every `rows`-th row (or in a slice of them)."""
    here = set(range(len(t))[rows if isinstance(rows, slice) else slice(0, None, rows)])
    return t.assign(**{column: [mark(v) if i in here else v for i, v in enumerate(t[column])]})


def unknown(t: pd.DataFrame, rows: int | slice) -> pd.DataFrame:
    return marked(t.astype({"patients": float}), lambda v: np.nan, rows)


def total(t: pd.DataFrame, name: str, by: str = "week") -> pd.DataFrame:
    """`t` with a row for each period that adds all places."""
    sums = t.groupby(by, as_index=False)[[c for c in ("patients", "beds") if c in t]].sum()
    return pd.concat([t, sums.assign(place=name)], ignore_index=True)


def wide(t: pd.DataFrame, *, dates_down: bool = True) -> pd.DataFrame:
    down, across = ("week", "place") if dates_down else ("place", "week")
    return t.pivot(index=down, columns=across, values="patients").reset_index()


def parts(t: pd.DataFrame, names: list[str], column: str) -> pd.DataFrame:
    """`t` with the patients of each row split over `names`."""
    r, k = np.random.default_rng(9), len(names)
    split = np.vstack([r.multinomial(v, np.full(k, 1 / k)) for v in t.patients])
    return pd.concat([t.assign(**{column: m, "patients": split[:, j]}) for j,
        m in enumerate(names)], ignore_index=True)


def events(n: int, periods: int, rate: float, every: str = "D",
    first: str = "2024-01-01") -> tuple[pd.DataFrame, pd.DataFrame]:
    """One row for each event, and the panel of their numbers."""
    r = np.random.default_rng(5)
    panel = pd.DataFrame(
        [(f"Station {i + 1}", d, r.poisson(rate * (1 + 0.4 * i)))
         for i in range(n) for d in pd.date_range(first, periods=periods, freq=every)],
             columns=["place", "week", "patients"])
    rows = panel.loc[panel.index.repeat(panel.patients)].sort_values("week",
        kind="stable").reset_index(drop=True)
    return rows, panel


def bare(t: pd.DataFrame) -> pd.DataFrame:
    return t.drop(columns="beds")


NONE = {"capacity": "none", "at-most": "200"}
EVENT = {"capacity": "none", "at-most": "30", "row": "event", "per-person": "1", "absent": "0"}
ISO = lambda d: d.isocalendar()  # noqa: E731


def mmwr(d: pd.Timestamp) -> tuple[int, int]:
    """Year and week of the US: from Sunday, the first with at least four days of January."""
    iso = (d + pd.Timedelta(days=1)).isocalendar()
    return iso[0], iso[1]


def again(t: pd.DataFrame, **columns: str) -> pd.DataFrame:
    return t.rename(columns=columns)


# In the structure of public tables


def nhs_beds() -> Owned:
    t = base(7, 30, "MS", "2021-04-01")
    c = dated(total(t, "England"), "%B %Y")
    c["% Occupied"] = (100 * c.patients / c.beds).round(1)
    c = again(c, place="Organisation", week="Period", beds="Total Beds", patients="Occupied Beds")
    return own(c, t, top="Beds Open Overnight,,,,\n,,,,\n", entity="Organisation", period="Period",
        count="Occupied Beds",
               capacity="Total Beds", **{"drop-where": "Organisation=England"})


def nhs_emergency() -> Owned:
    t = base(8, 36, "MS", "2020-01-01")
    c = dated(t, "MSitAE-%B-%Y").assign(**{"Org Code": "R" + t.place.str[-2:],
        "Parent": "NHS North"})
    c = again(c, place="Org name", week="Period", beds="Attendances", patients="Over 4 hours")
    return own(c, t.assign(place=c["Org Code"]), entity="Org Code", period="Period",
        count="Over 4 hours", capacity="Attendances",
               date="'MSitAE'-Mon-YYYY")


def intensive_care() -> Owned:
    t = base(6, 90, "D", "2021-01-01")
    c = t.assign(free=t.beds - t.patients, bundesland_id=t.place.str[-2:].astype(int),
        faelle=t.patients // 2)
    c = again(c, place="bundesland", week="datum", patients="betten_belegt",
        free="betten_frei").drop(columns="beds")
    return own(c, t, entity="bundesland", period="datum", count="betten_belegt",
        capacity="betten_belegt,betten_frei")


def respiratory() -> Owned:
    t = base(9, 80, "7D", "2021-01-02")
    c = again(total(t, "USA"), place="Geographic aggregation", week="Week Ending Date",
        patients="Flu Patients", beds="Inpatient Beds")
    c["Percent Reporting"] = 97.5
    return own(c, t, entity="Geographic aggregation", period="Week Ending Date",
        count="Flu Patients", capacity="Inpatient Beds",
               **{"drop-where": "Geographic aggregation=USA"})


def swedish_weeks() -> Owned:
    t = bare(base(6, 70, "7D", "2020-02-03"))
    c = t.assign(**{"år": [ISO(d)[0] for d in t.week], "veckonummer": [ISO(d)[1] for d in t.week],
        "Antal_fall": t.patients,
                    "Kum_antal_fall": t.groupby("place").patients.cumsum()}).drop(columns=["week",
                        "patients"])
    return own(again(c, place="Region"), t, entity="Region", period="år,veckonummer",
        count="Antal_fall", date="YYYY-ww", **NONE)


def nursing_homes() -> Owned:
    t = base(8, 60, "7D", "2021-01-03")
    c = dated(t, "%m/%d/%y").assign(occupied=(t.beds * 0.8).astype(int), admitted=0)
    c["Federal Provider Number"] = 15000 + t.place.str[-2:].astype(int) * 7
    c = again(c, place="Provider Name", week="Week Ending",
        patients="Residents Weekly Confirmed COVID-19", beds="Number of All Beds")
    return own(c, t.assign(place=c["Federal Provider Number"].astype(str)),
        entity="Federal Provider Number", period="Week Ending",
               count="Residents Weekly Confirmed COVID-19", capacity="Number of All Beds")


def pedestrians() -> Owned:
    t = bare(base(5, 40, "D", "2019-11-01"))
    c = parts(t, [f"{h:02d}:00:00 {m}" for m in ("AM", "PM") for h in (12, 5, 8)], "hour")
    c["Date_Time"] = [f"{d:%B %d, %Y} {h}" for d, h in zip(c.week, c.hour, strict=True)]
    c = c.assign(Year=c.week.dt.year, Month=c.week.dt.month_name(), Mdate=c.week.dt.day,
        Sensor_ID=c.place.str[-2:].astype(int))
    c = again(c.drop(columns=["week", "hour"]), place="Sensor_Name", patients="Hourly_Counts")
    return own(c, t, entity="Sensor_Name", period="Date_Time", count="Hourly_Counts", row="part",
        date="Mon D, YYYY",
               **NONE, **{"per-person": "4"})


def library() -> Owned:
    t = bare(base(5, 40, "MS", "2018-01-01", 900))
    c = t.assign(CheckoutYear=t.week.dt.year, CheckoutMonth=t.week.dt.month,
        UsageClass="Physical").drop(columns="week")
    return own(again(c, place="Branch", patients="Checkouts"), t, entity="Branch",
        period="CheckoutYear,CheckoutMonth",
               count="Checkouts", capacity="none", row="number", **{"at-most": "900"})


def influenza() -> Owned:
    t = base(8, 90, "7D", "2020-01-05", 3000)
    c = t.assign(**{"REGION TYPE": "States", "YEAR": [mmwr(d)[0] for d in t.week],
        "WEEK": [mmwr(d)[1] for d in t.week], "% ILI": (100 * t.patients / t.beds).round(4),
        "NUM. OF PROVIDERS": 40})
    c = again(c.drop(columns="week"), place="REGION", patients="ILITOTAL", beds="TOTAL PATIENTS")
    return own(c, t, top="PERCENTAGE OF VISITS REPORTED BY SENTINEL PROVIDERS\n", entity="REGION",
               period="YEAR,WEEK",
               count="ILITOTAL", capacity="TOTAL PATIENTS", date="YYYY-ee")


def counters() -> Owned:
    t = bare(base(4, 40, "D", "2022-04-01"))
    c = parts(t, [f"T{h:02d}:00:00+02:00" for h in (6, 9, 12, 18)], "hour")
    c["week"] = c.week.dt.strftime("%Y-%m-%d") + c.hour
    c = again(c.drop(columns="hour"), place="Nom du compteur", week="Date et heure de comptage",
        patients="Comptage horaire")
    return own(c, t, sep=";", entity="Nom du compteur", period="Date et heure de comptage",
        count="Comptage horaire", row="part",
               **NONE, **{"per-person": "2"})


def eurostat() -> Owned:
    t = bare(base(6, 50, "7D", "2020-01-06"))
    c = wide(t, dates_down=False)
    lines = ["freq,sex,age,geo\\TIME_PERIOD\t" + "\t".join(f"{d:%G-W%V} " for d in c.columns[1:])]
    for i, row in enumerate(c.itertuples(index=False)):
        lines.append(f"W,T,TOTAL,{row[0]}\t" + "\t".join(f"{v} p" if j > 45 else ": "
            if (i + j) % 97 == 0 else f"{v} " for j, v in enumerate(row[1:])))
    panel = unknown(t, 10**9).assign(patients=[np.nan if (i // 50 + i % 50) % 97 == 0 else float(v)
        for i, v in enumerate(t.patients)])
    panel["place"] = "W,T,TOTAL," + panel.place
    return own("\n".join(lines) + "\n", panel, name="table.tsv",
        entity="freq,sex,age,geo\\TIME_PERIOD", period="week", count="deaths", strip="p",
        missing=":", **NONE)


def canada() -> Owned:
    t = bare(base(7, 48, "MS", "2019-01-01", 2000))
    c = dated(total(t, "Canada"), "%Y-%m").assign(DGUID="2016A", UOM="Persons",
        SCALAR_FACTOR="units", STATUS=np.nan, DECIMALS=0)
    return own(again(c, week="REF_DATE", place="GEO", patients="VALUE"), t, entity="GEO",
        period="REF_DATE", count="VALUE", capacity="none",
               **{"at-most": "2000", "drop-where": "GEO=Canada"})


def japan() -> Owned:
    t = bare(base(6, 50, "7D", "2022-01-03")).replace({f"Ward 0{i}": k for i,
        k in enumerate("東西南北中外", 1)})
    c = again(dated(wide(t), "%Y/%m/%d"), week="日付")
    return own(c, t, encoding="cp932", entity="prefecture", period="日付", count="cases", **NONE,
        **{"encoding_": "cp932"})


def french_hospitals() -> Owned:
    t = bare(base(6, 60, "D", "2021-01-01"))
    c = parts(t, ["1", "2"], "sexe")
    c = pd.concat([c, t.assign(sexe="0")]).sort_values(["place", "week", "sexe"])
    c["place"] = "0" + c.place.str[-1]
    return own(again(c[["place", "sexe", "week", "patients"]], place="dep", week="jour",
        patients="hosp"), t.assign(place="0" + t.place.str[-1]), sep=";",
               entity="dep", period="jour", count="hosp", row="number", keep="sexe=0", **NONE)


def italy() -> Owned:
    t = bare(base(6, 60, "D", "2020-02-24"))
    c = dated(t, "%Y-%m-%dT18:00:00").assign(stato="ITA", codice_regione=t.place.str[-2:],
        totale_casi=t.groupby("place").patients.cumsum())
    return own(again(c, place="denominazione_regione", week="data", patients="terapia_intensiva"),
        t, entity="denominazione_regione", period="data",
               count="terapia_intensiva", **NONE)


def world() -> Owned:
    t = base(6, 60, "D", "2021-03-01", 5000)
    c = total(t.assign(continent=["Europe" if p < "Ward 04" else "Asia" for p in t.place]), "World")
    c = pd.concat([c, *[total(g, n).query("place == @n").assign(continent=np.nan) for n,
        g in c.dropna().groupby("continent")]])
    c = again(c, place="location", week="date", patients="new_cases", beds="population")
    return own(c, t, entity="location", period="date", count="new_cases", capacity="population",
               **{"drop-where": "location=World|location=Europe|location=Asia"})


def measures() -> Owned:
    t = bare(base(6, 50, "7D", "2021-01-03"))
    c = pd.concat([t.assign(indicator=k, patients=t.patients * f) for k,
        f in (("Weekly new hospital admissions", 1), ("Daily ICU occupancy", 3))])
    c = c.assign(year_week=c.week.dt.strftime("%G-W%V"), source="Country")
    return own(again(c, place="country", week="date", patients="value"), t, entity="country",
        period="date", count="value",
               keep="indicator=Weekly new hospital admissions", **NONE)


def hopkins() -> Owned:
    t = bare(base(6, 60, "D", "2020-01-22"))
    c = wide(t.assign(patients=t.groupby("place").patients.cumsum()), dates_down=False)
    c.columns = ["Country/Region", *[f"{d.month}/{d.day}/{d:%y}" for d in c.columns[1:]]]
    c.insert(1, "Lat", [51.5 + i for i in range(6)])
    c.insert(2, "Long", [-0.1 * i for i in range(6)])
    return own(c, t[t.week > t.week.min()], entity="Country/Region", period="day", count="cases",
        **{"drop-where": "day=Lat|day=Long"}, cumulative="difference", first="2020-01-22", **NONE)


def requests() -> Owned:
    rows, panel = events(5, 90, 2)
    c = rows.assign(**{"Unique Key": rows.index + 51000000, "Agency": "DOT",
        "Created Date": [f"{d:%m/%d/%Y} 0{i % 9 + 1}:15:00 AM" for i, d in enumerate(rows.week)]})
    c = again(c.drop(columns=["week", "patients"]), place="Borough")
    return own(c, panel, **(EVENT | {"entity": "Borough", "period": "Created Date",
        "count": "none"}))


def fires() -> Owned:
    rows, panel = events(6, 100, 1)
    c = rows.assign(patients=1, incident=[f"F{i:06d}" for i in rows.index])
    return own(again(c, place="station_area", week="call_date", patients="units"), panel,
               **(EVENT | {"entity": "station_area", "period": "call_date", "count": "units"}))


def vehicles() -> Owned:
    t = bare(base(6, 80, "D", "2022-05-01"))
    c = parts(t, ["cars", "lorries", "buses"], "kind").pivot(index=["place", "week"],
        columns="kind", values="patients").reset_index()
    c["all_motor_vehicles"] = c.cars + c.lorries + c.buses
    c.insert(0, "count_point_id", 900 + c.place.str[-2:].astype(int))
    return own(again(c, place="road_name", week="count_date"), t, entity="road_name",
        period="count_date", count="all_motor_vehicles", **NONE)


def attendance() -> Owned:
    t = base(6, 50, "7D", "2022-09-12", 3000)
    c = total(t.assign(geographic_level="Local authority", time_identifier="Week"),
        "England").fillna({"geographic_level": "National", "time_identifier": "Week"})
    c = again(c, place="area_name", week="attendance_date", patients="overall_absence",
        beds="enrolments")
    return own(c, t, entity="area_name", period="attendance_date", count="overall_absence",
        capacity="enrolments",
               **{"drop-where": "area_name=England", "keep": "geographic_level=Local authority"})


def crimes() -> Owned:
    rows, panel = events(6, 36, 6, "MS", "2020-01-01")
    c = dated(rows, "%Y-%m").assign(**{"Crime ID": [f"{i * 7919:012x}" for i in rows.index],
        "Crime type": ["Burglary", "Theft"] * (len(rows) // 2) + ["Theft"] * (len(rows) % 2)})
    return own(again(c.drop(columns="patients"), place="LSOA name", week="Month"), panel,
               **(EVENT | {"entity": "LSOA name", "period": "Month", "count": "none",
                   "at-most": "60"}))


def shelters() -> Owned:
    t = base(6, 60, "D", "2021-01-01")
    a = t.assign(PROGRAM="Emergency", patients=t.patients // 3, beds=t.beds // 3)
    b = t.assign(PROGRAM="Transitional", patients=t.patients - a.patients, beds=t.beds - a.beds)
    c = pd.concat([a, b]).sort_values(["week", "place"])
    return own(again(c, place="SHELTER_NAME", week="OCCUPANCY_DATE", patients="OCCUPANCY",
        beds="CAPACITY"), t, entity="SHELTER_NAME",
               period="OCCUPANCY_DATE", count="OCCUPANCY", capacity="CAPACITY", row="part",
                   **{"per-person": "1", "several-capacities": "sum"})


def hospitals() -> Owned:
    t = base(8, 67, "7D", "2021-01-01")
    c = t.assign(hospital_name="H " + t.place, state="NM", patients=t.patients.where(t.patients > 3,
        -999999))
    return own(again(c, place="hospital_pk", week="collection_week", patients="patients_7_day_avg",
        beds="inpatient_beds_7_day_avg"),
               t.assign(patients=t.patients.where(t.patients > 3)), entity="hospital_pk",
                   period="collection_week", count="patients_7_day_avg",
               capacity="inpatient_beds_7_day_avg", suppressed="-999999",
                   **{"suppressed-value": "2"})


def brazil() -> Owned:
    t = base(6, 60, "D", "2021-02-01")
    c = dated(t, "%d/%m/%Y").assign(ocupação=[f"{v:.1f}".replace(".", ",")
        for v in 100 * t.patients / t.beds])
    return own(again(c, place="município", week="data", patients="internações", beds="leitos"), t,
        sep=";", encoding="latin-1",
               entity="município", period="data", count="internações", capacity="leitos")


def weekly_deaths() -> Owned:
    t = bare(base(6, 52, "7D", "2022-01-07"))
    c = again(wide(t), week="Week ended")
    c.insert(0, "Week number", range(1, 53))
    c.insert(2, "Total deaths", c.iloc[:, 2:].sum(axis=1))
    return own(c, t, top="Deaths registered weekly,,,,,,,,\n", entity="region", period="Week ended",
        count="deaths", **NONE, **{"drop-where": "region=Total deaths|region=Week number"})


def taxis() -> Owned:
    t = bare(base(6, 60, "D", "2023-03-01"))
    c = t.assign(PULocationID=t.place.str[-2:].astype(int) + 130, borough="Queens",
        mean_fare=12.5 + t.patients % 7)
    return own(again(c.drop(columns="place"), week="pickup_date", patients="trips"),
        t.assign(place=c.PULocationID.astype(str)), entity="PULocationID",
               period="pickup_date", count="trips", **NONE)


PUBLIC: dict[str, Callable[[], Owned]] = {f.__name__: f for f in (
    nhs_beds, nhs_emergency, intensive_care, respiratory, swedish_weeks, nursing_homes, pedestrians,
        library, influenza, counters, eurostat,
    canada, japan, french_hospitals, italy, world, measures, hopkins, requests, fires, vehicles,
        attendance, crimes, shelters, hospitals, brazil,
    weekly_deaths, taxis)}


# What people do to their tables

T = base()
W = bare(T)


def calls() -> Owned:
    rows, panel = events(8, 120, 0.4)
    return own(again(rows.assign(patients=1, call=rows.index), place="station", week="day",
        patients="n"), panel,
               **(EVENT | {"entity": "station", "period": "day", "count": "n", "at-most": "20"}))


def renamed() -> Owned:
    late = (T.place == "Ward 05") & (T.week >= "2023-09-04")
    return own(T.assign(place=T.place.mask(late, "St. Mary's")),
        T.assign(place=T.place.replace("Ward 05", "St. Mary's")), identifiers="Ward 05=St. Mary's")


def revised() -> Owned:
    early = T.assign(patients=(T.patients * 0.9).astype(int), issue=T.week + pd.Timedelta(days=3))
    return own(pd.concat([early, T.assign(issue=T.week + pd.Timedelta(days=17))]), T, row="last",
        **{"latest-by": "issue"})


def sales() -> Owned:
    rows, panel = events(4, 200, 3)
    c = rows.assign(patients=1 + rows.index % 3, item=[f"sku{i % 17}" for i in rows.index],
        invoice=rows.index)
    sums = c.groupby(["place", "week"], as_index=False).patients.sum()
    full = panel.drop(columns="patients").merge(sums, how="left").fillna({"patients": 0})
    return own(again(c, place="country", week="date", patients="quantity"), full,
               **(EVENT | {"entity": "country", "period": "date", "count": "quantity",
                   "at-most": "60", "per-person": "3"}))


def admissions_in_and_out() -> Owned:
    c = T.assign(**{"New in": 3, "New out": 1 + T.patients % 4, "Nurses": 9.5})
    return own(c, T)


def blocks() -> Owned:
    text = "".join(f"Week of {d:%Y-%m-%d}\nplace,patients,beds\n" + g[["place", "patients",
        "beds"]].to_csv(index=False, header=False) + "\n" for d, g in T.groupby("week"))
    return own(text, T)


def sexes() -> Owned:
    c = pd.concat([parts(W, ["1", "2"], "sex"), W.assign(sex="0")])
    return own(c, W, row="number", keep="sex=0", **NONE)


def absent_days() -> Owned:
    gone = np.arange(len(T)) % 11 == 5
    return own(T[~gone], T.assign(patients=T.patients.mask(gone).astype(float)), absent="carry")


def late_zero() -> Owned:
    c = T.assign(beds=T.beds.mask((T.place == "Ward 03") & (T.week > "2023-10-01"), 0))
    return own(c, T[T.place != "Ward 03"], **{"capacity-zero": "drop"})


def capital() -> Owned:
    g, wave = np.random.default_rng(4), 60 + 50 * np.sin(np.arange(60) / 5)
    places = {"Capital": 6, "North": 1.2, "South": 1, "East": 1.4, "West": 0.9, "Isles": 0.6}
    p = pd.DataFrame({k: g.poisson(20 * wave * v) for k, v in places.items()},
        index=pd.date_range("2023-01-02", periods=60, freq="7D"))
    t = p.rename_axis("week").reset_index().melt("week", var_name="place", value_name="patients")
    return own(t, t, capacity="none", **{"at-most": "200000"})


MONTHS = "Jan Fev Mar Abr Mai Jun Jul Ago Set Out Nov Dez"
Y = base(5, 30, "MS", "2020-01-01")
YEARS = base(6, 30, "YS", "1990-01-01")
LATE = (T.place == "Ward 02") & (T.week > "2023-08-01")
L = base(6, 45, "7D", "2024-06-03")
S = base(7, 70, "7D", "2022-12-04")  # Sundays


def epoch_1904(t: pd.DataFrame) -> pd.DataFrame:
    return dated(t, lambda d: (d - pd.Timestamp("1904-01-01")).days)


HABITS: dict[str, Callable[[], Owned]] = {
    # dates
    "D/M/YYYY": lambda: own(dated(T, "%d/%m/%Y"), T),
    "M/D/YYYY": lambda: own(dated(T, "%m/%d/%Y"), T),
    "D/M/YYYY, only the first twelve days": lambda: own(dated(Y, "%d/%m/%Y"), Y, date="D/M/YYYY"),
    "D.M.YY, semicolons": lambda: own(dated(T, "%d.%m.%y"), T, sep=";", date="D.M.YY"),
    "serial days": lambda: own(dated(T, lambda d: (d - pd.Timestamp("1899-12-30")).days), T),
    "serial days from 1904": lambda: own(epoch_1904(T), T),
    "January 6, 2025": lambda: own(dated(T, "%B %d, %Y"), T, date="Mon D, YYYY"),
    "6 Jan 2024": lambda: own(dated(T, "%d %b %Y"), T),
    "ISO weeks": lambda: own(dated(T, "%G-W%V"), T),
    "weeks as 202405": lambda: own(dated(T, "%G%V"), T, date="YYYYww"),
    "year and week": lambda: own(T.assign(year=[ISO(d)[0] for d in T.week], week=[ISO(d)[1]
        for d in T.week]), T, period="year,week", date="YYYY-ww"),
    "year and US week": lambda: own(S.assign(year=[mmwr(d)[0] for d in S.week], week=[mmwr(d)[1]
        for d in S.week]), S, period="year,week", date="YYYY-ee"),
    "calendar year with ISO week": lambda: own(L.assign(year=L.week.dt.year, week=[ISO(d)[1]
        for d in L.week]), L, period="year,week", date="YYYY-ww"),
    "timestamps with a zone": lambda: own(dated(T, "%Y-%m-%dT00:00:00Z"), T),
    "YYYYMMDD": lambda: own(dated(T, "%Y%m%d"), T),
    "ranges of days": lambda: own(dated(T,
        lambda d: f"{d:%d.%m.%Y} - {d + pd.Timedelta(days=6):%d.%m.%Y}"), T),
    "Portuguese months": lambda: own(dated(Y,
        lambda d: f"{d.year}/{MONTHS[4 * d.month - 4:][:3]}"), Y),
    "week numbers alone": lambda: own(dated(T,
        lambda d: f"Week {(d - T.week.min()).days // 7 + 1}"), T),
    "quarters": lambda: own(dated(base(5, 24, "QS", "2016-01-01"),
        lambda d: f"{d.year} Q{d.quarter}"), base(5, 24, "QS", "2016-01-01")),
    "quarters of a financial year": lambda: own(dated(base(5, 24, "QS", "2016-01-01"),
        lambda d: f"{d.year}/{d.year % 100 + 1} Q{d.quarter}"), base(5, 24, "QS", "2016-01-01")),
    "years": lambda: own(dated(YEARS, "%Y"), YEARS),
    "dates beside a year": lambda: own(dated(T, "%b %d, %Y").assign(Year=T.week.dt.year), T,
        date="Mon D, YYYY"),
    "two columns of dates": lambda: own(T.assign(published=T.week + pd.Timedelta(days=9)), T),
    "a date typed as a period": lambda: own(T.assign(week=T.week.dt.to_period("W")), T,
        name="table.parquet"),
    # cells
    "53*": lambda: own(marked(T, "{}*".format, 7), T, strip="*"),
    "a footnote in 60 counts": lambda: own(marked(T, "{}¹".format, 6), T, strip="¹"),
    "(a)": lambda: own(marked(T, "{} (a)".format, 6), T, strip="(a)"),
    "about": lambda: own(marked(T, "c. {}".format, 9), T, strip="c."),
    "euros": lambda: own(marked(T, "€ {},00".format), T, sep=";", strip="€"),
    "a unit": lambda: own(marked(T, "{} beds".format, 1, "beds"), T, strip="beds"),
    "a unit in ten rows": lambda: own(marked(T, "{} patients".format, 36), T, strip="patients"),
    "33 1)": lambda: own(marked(T, "{} 1)".format, 40), T, strip="1)"),
    "110+": lambda: own(T.assign(patients=[f"{110}+" if v > 110 else v for v in T.patients]),
        T.assign(patients=T.patients.where(T.patients <= 110)), strip="+"),
    "<5": lambda: own(T.assign(patients=T.patients.astype(object).where(T.patients >= 5, "<5")),
        T.assign(patients=T.patients.where(T.patients >= 5)), suppressed="<5",
        **{"suppressed-value": "2"}),
    "a dash for none known": lambda: own(marked(T, lambda v: "-", 31), unknown(T, 31), missing="-"),
    "closed": lambda: own(marked(T, lambda v: "closed", 31), unknown(T, 31), missing="closed"),
    "ranges of counts": lambda: own(marked(T, lambda v: f"{v // 10 * 10}-{v // 10 * 10 + 9}", 5),
        unknown(T, 5), missing=""),
    "thousands": lambda: own(marked(base(6, 60, size=20000), "{:,}".format), base(6, 60,
        size=20000), decimal="."),
    "Swiss thousands": lambda: own(marked(base(6, 60, size=20000), lambda v: f"{v:,}".replace(",",
        "'")), base(6, 60, size=20000), sep=";"),
    "blank where hidden": lambda: own(T.assign(patients=T.patients.where(T.patients >= 5)),
        T.assign(patients=T.patients.where(T.patients >= 5)), suppressed="",
        **{"suppressed-value": "2"}),
    "blank now and then": lambda: own(unknown(T, 41), unknown(T, 41), missing=""),
    "-9": lambda: own(marked(T, lambda v: -9, 37), unknown(T, 37), missing="-9",
        **{"negative-counts": "missing"}),
    "decimals with commas": lambda: own(marked(T, lambda v: f"{v},0"), T, sep=";"),
    # rows
    "a row for each call": calls,
    "sales": sales,
    "ages": lambda: own(parts(T, ["0-17", "18-64", "65+"], "age"), T, row="part",
        **{"per-person": "1", "several-capacities": "same"}),
    "sexes with their total": sexes,
    "several readings a day, their mean": lambda: own(pd.concat([T.assign(patients=T.patients - 0,
        hour=8), T.assign(patients=T.patients, hour=20, beds=T.beds)]), T, row="mean"),
    "several readings, the largest": lambda: own(pd.concat([T.assign(patients=T.patients // 2,
        hour=8), T.assign(hour=20)]), T, row="max"),
    "revisions": revised,
    "some rows twice": lambda: own(pd.concat([T, T.iloc[::20]]), T),
    "the file twice": lambda: own(pd.concat([T, T]), T),
    "a total": lambda: own(total(T, "Total"), T, **{"drop-where": "place=Total"}),
    "week totals among dates": lambda: own(pd.concat([x for d, g in T.groupby("week")
        for x in (dated(g, "%Y-%m-%d"), pd.DataFrame([{"place": "", "week": "Week total",
        "patients": g.patients.sum(), "beds": g.beds.sum()}]))]), T,
        **{"drop-where": "week=Week total"}),
    "a last row of sums": lambda: own(dated(T, "%m/%d/%Y"), T,
        end=f"Total,,{T.patients.sum()},{T.beds.sum()}\n", **{"skip-last": "1"}),
    "the header again": lambda: own(dated(T[:180], "%Y-%m-%d").to_csv(index=False) + dated(T[180:],
        "%Y-%m-%d").to_csv(index=False), T),
    "totals to date": lambda: own(W.assign(patients=W.groupby("place").patients.cumsum()),
        W[W.week > W.week.min()], cumulative="difference", first="2023-01-02", **NONE),
    "measures in one column": lambda: own(pd.concat([W.assign(measure="patients"),
        W.assign(measure="staff", patients=W.patients * 2 + 1)]), W, keep="measure=patients",
        **NONE),
    "absent now and then": absent_days,
    "some columns of numbers": admissions_in_and_out,
    # names
    "a new name midway": renamed,
    "a typing error in 7 of 60": lambda: own(T.assign(place=[p if i % 60 not in range(20,
        27) or p != "Ward 04" else "Wrad 04" for i, p in enumerate(T.place)]), T,
        identifiers="Wrad 04=Ward 04"),
    "ü and ue": lambda: own(T.assign(place=[("Zürich" if i % 2 else "Zuerich") if p == "Ward 02"
        else p for i, p in enumerate(T.place)]), T.replace({"Ward 02": "Zürich"}),
        identifiers="Zuerich=Zürich"),
    "capitals and blanks": lambda: own(T.assign(place=[("ward 02 " if i % 9 == 0 else p)
        if p == "Ward 02" else p for i, p in enumerate(T.place)]), T,
        identifiers="ward 02=Ward 02"),
    "a code and a name": lambda: own(T.assign(code="C" + T.place.str[-2:]),
        T.assign(place="C" + T.place.str[-2:]), entity="code"),
    "two columns of a place": lambda: own(T.assign(town=T.place.str[:4],
        ward=T.place.str[5:]).drop(columns="place"), T, entity="town,ward"),
    "a comma in names": lambda: own(T.assign(place=T.place + ", North"),
        T.assign(place=T.place + ", North")),
    # files
    "a sheet for each place": lambda: own({p: g.drop(columns="place") for p,
        g in T.groupby("place")}, T, entity=""),
    "a sheet for each half": lambda: own({"2023 I": T[T.week < "2023-08-01"],
        "2023 II": T[T.week >= "2023-08-01"]}, T),
    "a sheet of notes first": lambda: own({"Notes": pd.DataFrame({"About": ["Made by hand"]}),
        "Data": T}, T, sheet="Data"),
    "places across": lambda: own(wide(W), W, entity="ward", count="patients", **NONE),
    "dates across": lambda: own(wide(W, dates_down=False), W, **NONE),
    "places across with their total": lambda: own(wide(W).assign(Total=lambda x: x.iloc[:,
        1:].sum(axis=1)), W, entity="ward", **NONE, **{"drop-where": "ward=Total"}),
    "numbers above the header": lambda: own(wide(W), W, top="1,2,3,4,5,6,7\n", entity="ward",
        **NONE, **{"skip-rows": "1"}),
    "two rows of headers": lambda: own(T, T, top=",,Hospital,Hospital\n", **{"skip-rows": "1"}),
    "notes below": lambda: own(T, T, end="\nSource: the wards\nPatients at midnight\n",
        **{"skip-last": "2"}),
    "one place": lambda: own(T[T.place == "Ward 01"], T[:0].assign(week=pd.to_datetime([]))),
    "UTF-16 with tabs": lambda: own(T, T, sep="\t", encoding="utf-16"),
    "blocks": blocks,
    # capacities
    "occupied and free": lambda: own(T.assign(free=T.beds - T.patients).drop(columns="beds"), T,
        capacity="patients,free"),
    "a capacity once": lambda: own(T.assign(beds=T.beds.where(T.week == T.week.min())), T),
    "no beds from October": late_zero,
    "no capacity": lambda: own(W, W, **NONE),
    # faults that the lines or the picture show
    "an unfinished last week": lambda: own(T.assign(patients=T.patients.where(T.week < T.week.max(),
        T.patients * 15 // 100)), T.assign(patients=T.patients.where(T.week < T.week.max()))),
    "a capacity three times as large midway": lambda: own(
        T.assign(beds=T.beds.mask(LATE, T.beds * 3)), T.assign(beds=T.beds.mask(LATE))),
    "zeros for not known": lambda: own(marked(T, lambda v: 0, slice(70, 76)), unknown(T, slice(70,
        76))),
    "a large place": capital,
}
# fmt: on


# The owner ---------------------------------------------------------------------------------------


def is_right(owned: Owned) -> bool:
    """Return whether the config reads what its owner knows, and no other place or period."""
    of = load_experiment("table.yaml").config
    got = clean_table(of.raw_file, of.dataset, of.streams, of.gains.values())[0].table
    want = owned.panel.rename(columns={"place": "entity", "week": "period"})
    fold = lambda names: [re.sub(r"\W", "", str(it)) for it in names]  # noqa: E731
    got, want = (
        t.assign(entity=fold(t.entity), period=pd.to_datetime(t.period))
        .set_index(["entity", "period"])
        .sort_index()
        for t in (got, want)
    )
    if not got.index.equals(want.index):
        return False
    pairs = [(got["count"], want.patients)] + (
        [(got["capacity"], want.beds)]
        if "beds" in want and "capacity" in owned.knows and owned.knows["capacity"] != "none"
        else []
    )
    return all(
        np.allclose(a[b.notna()].astype(float), b[b.notna()].astype(float), rtol=1e-9)
        for a, b in pairs
    )


def said_by(owned: Owned, options: Iterable[str]) -> tuple[int, str]:
    words = [w for it in options for one in owned.knows[it].split("|") for w in (f"--{it}", one)]
    code, out, err = command("new", "dataset", owned.name, *words)
    assert "Traceback" not in err
    assert (code == 0) == Path("table.yaml").exists(), "a refused command writes nothing"
    return code, out + err


def converse(owned: Owned) -> tuple[str, int, str]:
    """Return how it ends if an owner answers what is asked, the commands, and what is said last."""
    given, number = list[str](), 0
    while True:
        code, said = said_by(owned, given)
        number += 1
        if code == 0:
            return "right" if is_right(owned) else "wrong", number, said
        if not (more := [it for it in owned.knows if f"--{it}" in said and it not in given]):
            code, _ = said_by(owned, owned.knows)
            return "unasked" if code == 0 and is_right(owned) else "stopped", number, said
        given += more


WRONG = {"calendar year with ISO week": "periods missing: 21 between 2024-01-01 and 2024-06-03"}
"""Tables that are read wrongly, and the line that shows it."""
STOPPED = {
    "serial days from 1904": "add a column with dates like 2021-01-31",
    "Portuguese months": "add a column with dates like 2021-01-31",
    "week numbers alone": "add a column with dates like 2021-01-31",
    "quarters of a financial year": "add a column with dates like 2021-01-31",
    "a date typed as a period": "add a column with dates like 2021-01-31",
    "ranges of counts": "missing, or too small to publish?",
    "a sheet for each place": "copy them into one sheet, with a column for what their names say",
    "a sheet for each half": "copy them into one sheet, with a column for what their names say",
    "one place": "names one place only (Ward 01); a game needs two",
    "blocks": "row 10: has 1 cell, but the header has 3",
}
"""Tables that are refused, and the remedy that is said."""


@pytest.mark.parametrize("name", [*PUBLIC, *HABITS])
def test_an_owner_who_answers_what_is_asked_gets_the_right_panel(
    here: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("dpol.show.style.save_figure", lambda figure, paths: None)
    owned = (PUBLIC | HABITS)[name]()
    Path(owned.name).write_bytes(owned.content)
    end, _, said = converse(owned)
    assert end == ("wrong" if name in WRONG else "stopped" if name in STOPPED else "right"), said
    assert {**WRONG, **STOPPED}.get(name, "") in said


@pytest.mark.parametrize("name", [*PUBLIC, *HABITS])
def test_a_printed_command_that_is_pasted_writes_no_wrong_config(here: Path, name: str) -> None:
    owned = (PUBLIC | HABITS)[name]()
    Path(owned.name).write_bytes(owned.content)
    words = f"new dataset {owned.name}"
    while (code_and_said := command(*shlex.split(words)))[0]:
        printed = code_and_said[2].rpartition("\nComplete and run: dpol ")
        if not printed[0] or (again := printed[2].strip()) == words:
            return
        words = again
    assert is_right(owned)


def test_a_row_for_each_call_is_asked_about_if_it_is_said_to_be_a_number(here: Path) -> None:
    owned = calls()
    Path(owned.name).write_bytes(owned.content)
    owned.knows["row"] = "number"
    code, said = said_by(owned, ["entity", "period", "count", "capacity", "at-most", "row"])
    assert code == 2
    assert "--row: " in said
    assert "rows of one entity and period" in said
    assert not Path("table.yaml").exists()


def test_the_shares_of_tables_that_are_read_rightly() -> None:
    """What an owner gets from the tables above, of each kind."""
    lost = {*WRONG, *STOPPED}
    assert len({*PUBLIC} - lost) >= 0.8 * len(PUBLIC)
    assert len({*HABITS} - lost) >= 0.45 * len(HABITS)
    assert len(WRONG) <= 0.08 * len(HABITS)

"""A small world of counts and capacities, and how its owner writes it into a file."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

ONCE = {"privacy.count_sensitivity": 1}
PLACES = ["North", "South", "East", "West", "Harbour"]
CALENDARS = {
    "week": ("7D", "2023-01-02", 16),
    "sunday": ("7D", "2023-01-01", 16),
    "saturday": ("7D", "2022-12-31", 16),
    "fortnight": ("14D", "2023-01-02", 12),
    "day": ("D", "2023-01-02", 28),
    "month": ("MS", "2022-07-01", 15),
    "quarter": ("QS", "2020-01-01", 12),
    "year": ("YS", "2008-01-01", 14),
}
LENGTHS = {
    "fortnight": {"dataset.periods.days": 14},
    "day": {"dataset.periods.days": 1},
    "month": {"dataset.periods.months": 1},
    "quarter": {"dataset.periods.months": 3},
    "year": {"dataset.periods.months": 12},
}


@dataclass(frozen=True)
class Table:
    """A file with its truth, and what its owner knows.

    `told` are keys of the first config, `knows` those with a true value that the owner sets once
    a message names them, and `lines` sentences of printed lines that are true of the table, with
    the parts of the line to replace. `said` is what a warning of a wrong reading would say, and
    dates may be `near` days away from those of the truth.
    """

    name: str
    file: str
    content: bytes
    columns: Mapping[str, Any]
    truth: pd.DataFrame
    told: Mapping[str, Any] = field(default_factory=dict)
    knows: Mapping[str, Any] = field(default_factory=dict)
    line: str = ""
    expect: str = "right"
    said: str = ""
    near: int = 0


def world(
    seed: int,
    name: str,
    calendar: str = "week",
    places: list[str] | None = None,
    beds: tuple[int, int] = (20, 60),
    periods: int | None = None,
    start: str | None = None,
) -> pd.DataFrame:
    """Draw a row for each place and period: place, day, count and beds."""
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    step, first, number = CALENDARS[calendar]
    days = pd.date_range(start or first, periods=periods or number, freq=step)
    places = places or PLACES
    size = rng.integers(*beds, len(places))
    waves = np.sin(np.arange(len(days))[:, None] / 3 + rng.uniform(0, 6, len(places)))
    counts = rng.binomial(size, 0.5 + 0.3 * waves)
    index = pd.MultiIndex.from_product([days, places], names=["day", "place"])
    frame = pd.DataFrame({"count": counts.ravel()}, index).reset_index()
    frame["beds"] = np.tile(size, len(days))
    return frame[["place", "day", "count", "beds"]]


def gains(frame: pd.DataFrame, per: float | str = "beds") -> pd.DataFrame:
    """Return the gains of the rows: missing counts repeat for four periods, and then are 0."""
    counts = frame.pivot(index="day", columns="place", values="count").astype(float)
    if isinstance(per, str):
        capacity = frame.pivot(index="day", columns="place", values=per).ffill().bfill()
        return (counts.ffill(limit=4).fillna(0) / capacity).clip(upper=1)
    return counts.ffill(limit=4).fillna(0) / per


def dated(frame: pd.DataFrame, signs: str = "%Y-%m-%d") -> pd.DataFrame:
    """Return the rows with their dates as text."""
    return frame.assign(day=frame["day"].dt.strftime(signs))


def encode(shown: pd.DataFrame | dict[str, pd.DataFrame], kind: str, **options: Any) -> bytes:
    """Return a frame, or the sheets of a workbook, as the bytes of a file."""
    buffer = io.BytesIO()
    if kind == "xlsx":
        with pd.ExcelWriter(buffer) as book:
            for name, sheet in (shown if isinstance(shown, dict) else {"Sheet1": shown}).items():
                sheet.to_excel(book, sheet_name=name, index=False, **options)
        return buffer.getvalue()
    if kind == "parquet":
        shown.to_parquet(buffer, index=False)
        return buffer.getvalue()
    above, below = options.pop("above", ""), options.pop("below", "")
    encoding = options.pop("encoding", "utf-8")
    text = above + shown.to_csv(index=False, **options) + below
    if kind == "csv.gz":
        import gzip

        return gzip.compress(text.encode(encoding), mtime=0)
    return text.encode(encoding)


def table(
    name: str,
    rows: pd.DataFrame,
    shown: pd.DataFrame | dict[str, pd.DataFrame] | None = None,
    *,
    columns: str = "place day count beds",
    calendar: str = "week",
    kind: str = "csv",
    truth: pd.DataFrame | None = None,
    told: Mapping[str, Any] | None = None,
    knows: Mapping[str, Any] | None = None,
    line: str = "",
    bound: int | None = None,
    expect: str = "right",
    said: str = "",
    near: int = 0,
    **options: Any,
) -> Table:
    """Write the rows as their owner has them, under the owner's names of columns."""
    if shown is None:
        shown = dated(rows)
    names = columns.split()
    renamed = dict(zip(["place", "day", "count", "beds"], names, strict=False))
    sheets = shown if isinstance(shown, dict) else {"": shown}
    sheets = {key: sheet.rename(columns=renamed) for key, sheet in sheets.items()}
    if bound:
        names = names[:3]
        sheets = {key: sheet.drop(columns="beds", errors="ignore") for key, sheet in sheets.items()}
    content = encode(sheets if isinstance(shown, dict) else sheets[""], kind, **options)
    keys = ["entity", "period", "count", "capacity"]
    first = {"gain.of": "count", "gain.bound": bound} if bound else {}
    return Table(
        name=name,
        file=f"table.{kind}",
        content=content,
        columns=dict(zip(keys, names, strict=False)),
        truth=gains(rows, bound or "beds") if truth is None else truth,
        told=first | dict(told or {}),
        knows=ONCE | LENGTHS.get(calendar, {}) | dict(knows or {}),
        line=line,
        expect=expect,
        said=said,
        near=near,
    )

"""Tables of released numbers, from which `dpol.choose` makes the next choice.

A table has a row per place and period, with these columns:

- `place`, and `period`: its first day, such as 2024-05-20;
- `share` or `count`: the noisy number. An empty cell, or no row, says that nothing was reported;
- `deviation`: standard deviation of the noise of this number;
- `capacity`: public, divides the count. Optional for shares, and for counts with a known range;
- `noise`: name of the noise, one for the table; independent Gaussian noise without this column;
- `a` and `b`: memory of the place's noise (`dpol.privacy.chains`), for the noise capacity-memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpol.core.errors import DataError
from dpol.core.extras import needs_pipeline
from dpol.core.randomness import Floats
from dpol.core.words import listed
from dpol.data.tables.bad_cells import BadCells, refuse_cells
from dpol.noise.noises import ISOTROPIC, Noise, find_noise
from dpol.privacy.chains import Chains
from dpol.privacy.stays import mu_of_stays

if TYPE_CHECKING:
    import pandas as pd

_LIMITS = {"deviation": (0, math.inf), "capacity": (0, math.inf), "a": (-1, 1), "b": (-1, 1)}
"""Columns of public numbers, and the limits between which they lie."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Released:
    """Released numbers of n places in T periods as gains, and the period to choose for.

    Args:
        places: n names, in the order of the table.
        days: first days of the T periods, from the first with a number, and of the next.
        gains: (T, n) gains; NaN where nothing was reported.
        scale: (T + 1, n) standard deviations.
        capacity: (T + 1, n) capacities, if they are known.
        noise: noise of the numbers.
        memory: memory of the noise; None for independent noise.
        counts: whether the numbers are counts.
    """

    places: tuple[str, ...]
    days: tuple[str, ...]
    gains: Floats
    scale: Floats
    capacity: Floats | None
    noise: Noise
    memory: Chains | None
    counts: bool

    @property
    def mu(self) -> float | None:
        """The mu of a person who changes two counts of a period by 1, if the table says it."""
        unknown = self.capacity is None and not self.counts
        if unknown or self.noise.mechanism or self.memory or not len(self.gains):
            return None
        moved = 1.0 if self.capacity is None else 1 / self.capacity[:-1]
        return mu_of_stays(np.where(np.isnan(self.gains), 0, moved / self.scale[:-1]), None, 1)


def read_released(frame: pd.DataFrame, *, period: str | None = None, file: str) -> Released:
    """Read released numbers up to a period, whose own numbers are not read.

    Args:
        frame: the table; a message names a row by its index.
        period: first day of the period to choose for; by default the one after the last number.
        file: name of the table in messages.

    Raises:
        DataError: the table breaks a rule above; the text has the rows and remedies.
        ValueError: the period is not a date, or begins no period.
    """
    with needs_pipeline():
        import pandas as pd
    number = "count" if "count" in frame else "share"
    if lost := [it for it in ("place", "period", number, "deviation") if it not in frame]:
        raise DataError(f"{file}: lacks the column {listed(lost)} of a table of released numbers")
    texts = frame.astype(object).where(frame.notna(), "").map(lambda cell: str(cell).strip())
    texts["period"] = texts["period"].str.removesuffix(" 00:00:00")
    cells = texts[["place"]].assign(noise=texts.get("noise", ""))
    cells["noise"] = cells["noise"].replace("", ISOTROPIC.name)
    cells["day"] = pd.to_datetime(texts["period"], format="%Y-%m-%d", errors="coerce")
    for name in (number, *filter(texts.__contains__, _LIMITS)):
        cells[name] = texts[name].map(_number)
    refuse_cells(file, [*_bad_cells(texts, cells, number)])
    noise = find_noise(cells["noise"].iloc[0])
    told = cells[cells[number].notna()]
    days = _periods(cells["day"], told["day"], period, file)
    cells = cells[cells["day"] <= days[-1]]
    places = cells["place"].unique()
    grids = {}
    for name in filter(cells.__contains__, (number, *_LIMITS)):
        grid = cells.pivot(index="day", columns="place", values=name).reindex(days)[places]
        # Public numbers hold until others are told, and before the first ones.
        grids[name] = (grid if name == number else grid.ffill().bfill()).to_numpy()
        if name != number and (lost := places[np.isnan(grids[name][0])].tolist()):
            raise DataError(f"{file}: {listed(lost)} has no {name} in any row; write it")
    gains, scale, capacity = grids[number][:-1], grids["deviation"], grids.get("capacity")
    if number == "count" and capacity is not None:
        gains, scale = gains / capacity[:-1], scale / capacity
    chains = noise.memory == "chains"
    if chains and not {*"ab"} <= grids.keys():
        raise DataError(f"{file}: lacks the columns a and b, the memory of the noise {noise.name}")
    return Released(
        places=tuple(places),
        days=tuple(days.strftime("%Y-%m-%d")),
        gains=gains,
        scale=scale,
        capacity=capacity,
        noise=noise,
        memory=Chains(grids["a"][0], grids["b"][0]) if chains else None,
        counts=number == "count",
    )


def _number(text: str) -> float:
    """Return a number, or NaN for any other text."""
    try:
        return float(text) if np.isfinite(float(text)) and "_" not in text else math.nan
    except ValueError:
        return math.nan


def _bad_cells(texts: pd.DataFrame, cells: pd.DataFrame, number: str) -> Iterator[BadCells]:
    """Yield the cells that break a rule, by column."""
    places, periods = texts["place"], texts["period"]
    yield BadCells(places[places == ""], "the name of a place")
    yield BadCells(periods[cells["day"].isna()], "dates like 2024-05-20")
    twice = cells.duplicated(["place", "day"]) & cells["day"].notna()
    yield BadCells(periods[twice], "one row for each place", ("Keep what was released.",))
    for name in filter(cells.__contains__, (number, *_LIMITS)):
        low, high = _LIMITS.get(name, (-math.inf, math.inf))
        good = cells[name].between(low, high, inclusive="neither")
        blank = (texts[name] == "") & (texts[number] == "" if name != number else True)
        above = " above 0" * (low == 0) + " between -1 and 1" * (low == -1)
        yield BadCells(texts[name][~good & ~blank], f"numbers like 0.25{above}")
    other = cells["noise"][cells["noise"] != cells["noise"].iloc[0]]
    yield BadCells(other, f"one noise in all rows, as in the first: {cells['noise'].iloc[0]}")


def _periods(
    rows: pd.Series[Any], told: pd.Series[Any], given: str | None, file: str
) -> pd.DatetimeIndex:
    """Return the first days from the first number to the period to choose for.

    Periods are as far apart as the two closest ones: in months, if all begin on one day of a month.
    Where most periods would then have no row, one of these two has a wrong date.
    """
    import pandas as pd

    try:
        period = None if given is None else pd.to_datetime(given, format="%Y-%m-%d")
    except ValueError:
        raise ValueError(f"period must be a date like 2024-05-20, got {given!r}") from None
    known = pd.DatetimeIndex(rows.unique()).sort_values()
    if len(known) == 1 and period is not None:
        known = pd.DatetimeIndex([*known, period]).unique().sort_values()
    monthly = len(known) > 1 and known.day.nunique() == 1
    places = 12 * known.year + known.month if monthly else (known - known[0]).days
    step = int(np.diff(places).min()) if len(known) > 1 else 0
    offset = pd.DateOffset(months=step) if monthly else pd.DateOffset(days=step)
    if period is None and step == 0 and len(told):
        raise DataError(f"{file}: tells one period, so not the next; give it (period, --period)")
    if period is None:
        period = told.max() + offset if len(told) else known[0]
    told = told[told < period]
    every = pd.date_range(known[0], max(known[-1], period), freq=offset) if step else known
    wanted = f"periods {step} {'months' if monthly else 'days'} apart, like {known[0]:%Y-%m-%d}"
    wrong, texts = ~rows.isin(every), rows.dt.strftime("%Y-%m-%d").rename("period")
    if step and 2 * len(known) < len(every[every <= known[-1]]):
        closest = int(np.diff(places).argmin())
        wrong, wanted = rows.isin(known[closest : closest + 2]), "periods as far apart as others"
    refuse_cells(file, [BadCells(texts[wrong], wanted)])
    if period not in every:
        raise ValueError(f"{period:%Y-%m-%d} begins no period; {file} has {wanted}")
    return every[(every >= told.min() if len(told) else every >= period) & (every <= period)]

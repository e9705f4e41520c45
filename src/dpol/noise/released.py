"""Tables of released numbers, from which `dpol.choose` makes the next choice.

A table has a row per place and period, with these columns:

- `place`, and `period`: its first day, such as 2024-05-20;
- `share` or `count`: the noisy number. An empty cell, or no row, says that nothing was reported;
- `deviation`: standard deviation of the noise of this number;
- `capacity`: public, divides the count. Optional for shares, and for counts with a known range;
- `noise`: name of the noise, one for the table; independent Gaussian noise without this column;
- `change`: the most by which one person can change the count, 1 without this column;
- `version`: how many times this number was released, 1 without this column;
- `a` and `b`: memory of the place's noise (`dpol.privacy.chains`), for the noise capacity-memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from dpol.core.arguments import check_number, check_whole
from dpol.core.errors import DataError
from dpol.core.words import listed
from dpol.data.table import BadCells, dates_of, read_file, refuse_cells, texts_of
from dpol.data.table import Cells as Texts
from dpol.noise.noises import ISOTROPIC, find_noise
from dpol.noise.noisy_gains import NoisyGains
from dpol.privacy.chains import Chains
from dpol.privacy.guarantee import NO_PRIVACY
from dpol.privacy.stays import mu_of_stays

_LIMITS = {
    **dict.fromkeys(("deviation", "capacity", "change", "version"), (0, math.inf, " above 0")),
    **dict.fromkeys(("a", "b"), (-1, 1, " between -1 and 1")),
}
"""Columns of public numbers, and the limits between which they lie, also in words."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Released:
    """Released numbers as a game with one replicate and no initial noise.

    Args:
        places: n names, in the order of the table.
        days: first days of the T periods, from the first with a number, and of the next, for which
            a rule chooses.
        noisy: the game, of T + 1 rounds or more, of which later ones are made up.
        law: law of the noise.
        change: the most by which one person changes a count, as told.
        mu: mu of a person who changes two counts of a period by that; None if the table does not
            say.
    """

    places: tuple[str, ...]
    days: tuple[str, ...]
    noisy: NoisyGains
    law: str
    change: float
    mu: float | None


def read_released(
    frame: pd.DataFrame,
    *,
    period: str | None = None,
    gain_range: float | None = None,
    n_rounds: int | None = None,
    file: str = "the table",
) -> Released:
    """Read released numbers up to a period, whose own numbers are not read.

    Args:
        frame: the table; a message names a row by its index.
        period: first day of the period to choose for; by default the one after the last number.
        gain_range: largest possible gain, 1 by default; counts without capacities have no default.
        n_rounds: number of rounds of the game; T + 1 by default.
        file: name of the table in messages.

    Raises:
        DataError: the table breaks a rule above; the text has the rows and remedies.
        ValueError: an argument is out of range, or the period begins none.
    """
    number = "count" if "count" in frame else "share"
    if lost := [it for it in ("place", "period", number, "deviation") if it not in frame]:
        raise DataError(f"{file}: lacks the column {listed(lost)} of a table of released numbers")
    if frame.empty or {"count", "share"} <= {*frame.columns}:
        raise DataError(f"{file}: needs rows with either shares or counts")
    public = [*filter(frame.__contains__, _LIMITS)]
    cells = pd.DataFrame({name: _numbers(frame[name]) for name in (number, *public)})
    cells["place"], days = _texts(frame["place"]), dates_of(_texts(frame["period"]))
    cells["noise"] = _texts(frame["noise"]) if "noise" in frame else ""
    cells = cells.assign(day=days, noise=cells["noise"].replace("", ISOTROPIC.name))
    refuse_cells(file, [*_bad_cells(frame, cells, number)])
    noise = find_noise(cells["noise"].iloc[0])
    if (chains := noise.memory == "chains") and not {"a", "b"} <= {*public}:
        raise DataError(f"{file}: lacks the columns a and b, the memory of the noise {noise.name}")
    counts = number == "count" and "capacity" not in public
    if counts and gain_range is None:
        raise ValueError("counts without capacities have no known range; give it (--range)")
    known = _periods(cells["day"], cells["day"].where(cells[number].notna()).max(), period, file)
    cells = cells[cells["day"] <= known[-1]]
    column, places = pd.factorize(cells["place"])
    grids = {}
    for name in (number, *public):
        grid = np.full((len(known), len(places)), math.nan)
        grid[known.get_indexer(pd.Index(cells["day"])), column] = cells[name]
        # A public number holds until the next one is told, and before the first.
        grids[name] = grid if name == number else pd.DataFrame(grid).ffill().bfill().to_numpy()
        if name in public and (lost := places[np.isnan(grids[name][0])].tolist()):
            raise DataError(f"{file}: {listed(lost)} has no {name} in any row; write it")
    grids[number][-1] = math.nan
    told = ~np.isnan(grids[number]).all(axis=1)
    known = known[int(told.argmax()) if told.any() else -1 :]
    size = check_whole("n_rounds", len(known) if n_rounds is None else n_rounds, len(known))
    later = np.minimum(np.arange(size), len(known) - 1) - len(known)
    grids = {name: grid[later] for name, grid in grids.items()}
    gains, scale, capacity = grids[number], grids["deviation"], grids.get("capacity")
    if number == "count" and capacity is not None:
        gains, scale = gains / capacity, scale / capacity
    reported, memory, fresh = ~np.isnan(gains), None, None
    if chains:  # the noise of a place goes on where it reports
        memory = Chains(grids["a"][0], grids["b"][0])
        ratios = memory.deviations(*gains.shape)
        fresh = scale / np.take_along_axis(ratios, reported.cumsum(axis=0) - reported, axis=0)
    most = check_number("gain_range", 1.0 if gain_range is None else gain_range, "(0, inf)")
    if number == "share" and reported.any() and not -most <= np.median(gains[reported]) <= 2 * most:
        raise DataError(
            f"{file}: half of the shares lie outside {-most:g} to {2 * most:g}; if they are in"
            " percent, divide them and their deviations by 100, or give their largest (--range)"
        )
    change = grids.get("change", np.ones_like(gains))
    moved = change * np.sqrt(grids.get("version", 1)) / (1 if capacity is None else capacity)
    mu = None
    if reported.any() and (counts or capacity is not None) and not (noise.mechanism or chains):
        mu = mu_of_stays(reported * moved / scale, None, 1)
    noisy = NoisyGains(
        initial=np.zeros((1, len(places))),
        gains=np.nan_to_num(gains)[None],
        noise_scale=scale,
        gain_range=most,
        guarantee=NO_PRIVACY,
        memory=memory,
        fresh_scale=fresh,
        capacity=capacity,
        mechanism=noise.mechanism,
        reported=None if reported[: len(known) - 1].all() else reported.astype(float),
    )
    starts = tuple(known.strftime("%Y-%m-%d"))
    return Released(
        places=tuple(places),
        days=starts,
        noisy=noisy,
        law=noise.law.name,
        change=float(change.max()),
        mu=mu,
    )


def read_texts(file: Path | str, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return columns of a file as text, by default all."""
    cells = read_file(file, columns=columns).cells
    return pd.DataFrame({name: texts_of(cells[name]).astype(object) for name in cells})


def _texts(column: Texts) -> Texts:
    """Return the cells as texts, empty where there is none."""
    texts = {it: str(it).strip() for it in column.dropna().unique()}
    return column.map(texts).astype(object).where(column.notna(), "")


def _numbers(column: Texts) -> Texts:
    """Return the cells as numbers, NaN where there is none."""
    return column.astype(float) if column.dtype.kind in "iuf" else column.map(_number)


def _number(cell: object) -> float:
    try:
        return math.nan if "_" in str(cell) else float(str(cell))
    except ValueError:
        return math.nan


def _bad_cells(frame: pd.DataFrame, cells: pd.DataFrame, number: str) -> Iterator[BadCells]:
    """Yield the cells that break a rule, by column."""

    def bad(name: str, rows: Texts, wanted: str, *remedies: str) -> BadCells:
        return BadCells(_texts(frame[name][rows]), wanted, " ".join(remedies))

    yield bad("place", cells["place"] == "", "the name of a place")
    yield bad("period", cells["day"].isna(), "dates like 2024-05-20")
    twice = cells.duplicated(["place", "day"]) & cells["day"].notna()
    yield bad("period", twice, "one row for each place", "Keep what was released.")
    silent = frame[number].isna() | (frame[number] == "")
    for name, (low, high, words) in {number: (-math.inf, math.inf, ""), **_LIMITS}.items():
        if name in cells:
            good = cells[name].between(low, high, inclusive="neither")
            blank = silent & (frame[name].isna() | (frame[name] == ""))
            yield bad(name, ~good & ~blank, f"numbers like 0.25{words}")
    first = cells["noise"].iloc[0]
    if (other := cells["noise"] != first).any():
        yield bad("noise", other, f"one noise in all rows, as in the first: {first}")


def _periods(rows: Texts, last: pd.Timestamp, given: str | None, file: str) -> pd.DatetimeIndex:
    """Return the first days from the first row to the period to choose for.

    Periods are as far apart as the two closest ones: in months, if all begin on one day of a month.
    Where most periods would then have no row, one of these two has a wrong date.

    Args:
        rows: the period of each row.
        last: the last period with a number; NaT without one.
        given: the period to choose for.
        file: name of the table in messages.
    """
    try:
        period = None if given is None else pd.to_datetime(given, format="%Y-%m-%d")
    except ValueError:
        raise ValueError(f"period must be a date like 2024-05-20, got {given!r}") from None
    known = pd.DatetimeIndex(rows.unique()).sort_values()
    if period is not None and period > (latest := known[-1] + pd.DateOffset(years=1)):
        raise ValueError(
            f"period {period:%Y-%m-%d} is more than a year after the last of {file}; give one up to"
            f" {latest:%Y-%m-%d} (--period)"
        )
    if len(known) == 1 and period is not None:
        known = known.union([period])
    if len(known) == 1 and period is None and pd.notna(last):
        raise DataError(f"{file}: tells one period, so not the next; give it (period, --period)")
    places, offset = _apart(known)
    if period is None:
        period = last + offset if pd.notna(last) else known[0]
    every = pd.date_range(known[0], max(known[-1], period), freq=offset)
    ((unit, step),) = offset.kwds.items()
    wanted, wrong = f"periods {step} {unit} apart, like {known[0]:%Y-%m-%d}", ~rows.isin(every)
    if 2 * len(known) < len(every[every <= known[-1]]):
        closest = int(np.diff(places).argmin())
        wrong, wanted = rows.isin(known[closest : closest + 2]), "periods as far apart as others"
    texts = rows[wrong].dt.strftime("%Y-%m-%d").rename("period")
    refuse_cells(file, [BadCells(texts, wanted)])
    if period not in every:
        raise ValueError(f"{period:%Y-%m-%d} begins no period; {file} has {wanted}")
    return every[every <= period]


def _apart(known: pd.DatetimeIndex) -> tuple[pd.Index[int], pd.DateOffset]:
    """Return the places of ordered periods in days or months, and the smallest distance."""
    monthly = len(known) > 1 and known.day.nunique() == 1
    places = 12 * known.year + known.month if monthly else (known - known[0]).days
    step = int(np.diff(places).min()) if len(known) > 1 else 7
    return places, pd.DateOffset(months=step) if monthly else pd.DateOffset(days=step)

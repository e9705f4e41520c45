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

from dpol.core.arguments import check_number, check_whole
from dpol.core.errors import DataError
from dpol.core.words import listed
from dpol.data.stream import GainStream
from dpol.data.tables.bad_cells import BadCells, refuse_cells
from dpol.noise.noises import ISOTROPIC, MemoryChoice, find_noise, memory_of
from dpol.noise.noisy_gains import NoisyGains, noise_scale
from dpol.privacy.chains import Chains
from dpol.privacy.guarantee import NO_PRIVACY
from dpol.privacy.stays import mu_of_stays

if TYPE_CHECKING:
    import pandas as pd

_LIMITS = {"deviation": (0, math.inf), "capacity": (0, math.inf), "a": (-1, 1), "b": (-1, 1)}
"""Columns of public numbers, and the limits between which they lie."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Released:
    """Released numbers as a game with one replicate and no initial noise.

    Args:
        places: n names, in the order of the table.
        days: first days of the T periods, from the first with a number, and of the next, for which
            a rule chooses.
        noisy: the game, of T + 1 rounds or more, of which later ones are made up.
        law: law of the noise.
        mu: mu of a person who changes two counts of a period by 1; None if the table does not say.
    """

    places: tuple[str, ...]
    days: tuple[str, ...]
    noisy: NoisyGains
    law: str
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
    import pandas as pd

    number = "count" if "count" in frame else "share"
    if lost := [it for it in ("place", "period", number, "deviation") if it not in frame]:
        raise DataError(f"{file}: lacks the column {listed(lost)} of a table of released numbers")
    if frame.empty or {"count", "share"} <= {*frame.columns}:
        raise DataError(f"{file}: needs rows with either shares or counts")
    texts = frame.astype(object).where(frame.notna(), "").map(lambda cell: str(cell).strip())
    texts["period"] = texts["period"].str.removesuffix(" 00:00:00")
    cells = texts[["place"]].assign(noise=texts.get("noise", ""))
    cells["noise"] = cells["noise"].replace("", ISOTROPIC.name)
    cells["day"] = pd.to_datetime(texts["period"], format="%Y-%m-%d", errors="coerce")
    public = [*filter(texts.__contains__, _LIMITS)]
    for name in (number, *public):
        cells[name] = texts[name].map(_number)
    refuse_cells(file, [*_bad_cells(texts, cells, number)])
    noise = find_noise(cells["noise"].iloc[0])
    if (chains := noise.memory == "chains") and not {"a", "b"} <= {*public}:
        raise DataError(f"{file}: lacks the columns a and b, the memory of the noise {noise.name}")
    counts = number == "count" and "capacity" not in public
    if counts and gain_range is None:
        raise ValueError("counts without capacities have no known range; give it (--range)")
    days = _periods(cells["day"], cells.loc[cells[number].notna(), "day"], period, file)
    cells = cells[cells["day"] <= days[-1]]
    places = cells["place"].unique()
    size = check_whole("n_rounds", len(days) if n_rounds is None else n_rounds, len(days))
    later = np.minimum(np.arange(size), len(days) - 1)
    grids = {}
    for name in (number, *public):
        grid = cells.pivot(index="day", columns="place", values=name).reindex(days)[places]
        # A public number holds until the next one is told, and before the first.
        grids[name] = (grid if name == number else grid.ffill().bfill()).to_numpy()[later]
        if name in public and (lost := places[np.isnan(grids[name][0])].tolist()):
            raise DataError(f"{file}: {listed(lost)} has no {name} in any row; write it")
    gains, scale, capacity = grids[number], grids["deviation"], grids.get("capacity")
    gains[len(days) - 1 :] = math.nan
    if number == "count" and capacity is not None:
        gains, scale = gains / capacity, scale / capacity
    known, memory, fresh = ~np.isnan(gains), None, None
    if chains:  # the noise of a place goes on where it reports
        memory = Chains(grids["a"][0], grids["b"][0])
        ratios = memory.deviations(*gains.shape)
        fresh = scale / np.take_along_axis(ratios, known.cumsum(axis=0) - known, axis=0)
    moved, mu = (1 if capacity is None else 1 / capacity), None
    if known.any() and (counts or capacity is not None) and not (noise.mechanism or chains):
        mu = mu_of_stays(known * moved / scale, None, 1)
    noisy = NoisyGains(
        initial=np.zeros((1, len(places))),
        gains=np.nan_to_num(gains)[None],
        noise_scale=scale,
        gain_range=check_number(
            "gain_range", 1.0 if gain_range is None else gain_range, "(0, inf)"
        ),
        guarantee=NO_PRIVACY,
        memory=memory,
        fresh_scale=fresh,
        capacity=capacity,
        mechanism=noise.mechanism,
        reported=None if known[: len(days) - 1].all() else known.astype(float),
    )
    starts = tuple(days.strftime("%Y-%m-%d"))
    return Released(places=tuple(places), days=starts, noisy=noisy, law=noise.law.name, mu=mu)


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
    limits = {number: (-math.inf, math.inf), **_LIMITS}
    for name in filter(cells.__contains__, limits):
        low, high = limits[name]
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
    places, offset = _apart(known)
    step = int(np.diff(places).min()) if len(known) > 1 else 0
    if period is None and step == 0 and len(told):
        raise DataError(f"{file}: tells one period, so not the next; give it (period, --period)")
    if period is None:
        period = told.max() + offset if len(told) else known[0]
    told = told[told < period]
    every = pd.date_range(known[0], max(known[-1], period), freq=offset) if step else known
    (unit,) = offset.kwds
    wanted = f"periods {step} {unit} apart, like {known[0]:%Y-%m-%d}"
    wrong, texts = ~rows.isin(every), rows.dt.strftime("%Y-%m-%d").rename("period")
    if step and 2 * len(known) < len(every[every <= known[-1]]):
        closest = int(np.diff(places).argmin())
        wrong, wanted = rows.isin(known[closest : closest + 2]), "periods as far apart as others"
    refuse_cells(file, [BadCells(texts[wrong], wanted)])
    if period not in every:
        raise ValueError(f"{period:%Y-%m-%d} begins no period; {file} has {wanted}")
    return every[(every >= told.min() if len(told) else every >= period) & (every <= period)]


def _apart(known: pd.DatetimeIndex) -> tuple[Any, pd.DateOffset]:
    """Return the places of ordered periods in days or months, and the smallest distance."""
    import pandas as pd

    monthly = len(known) > 1 and known.day.nunique() == 1
    places = 12 * known.year + known.month if monthly else (known - known[0]).days
    step = int(np.diff(places).min()) if len(known) > 1 else 7
    return places, pd.DateOffset(months=step) if monthly else pd.DateOffset(days=step)


def template_of(stream: GainStream, noise: str, mu: float, memory: MemoryChoice) -> pd.DataFrame:
    """Return a table of the two periods after a stream, without numbers.

    It has the places, their last capacities, and the deviation that each number must have.

    Args:
        stream: raw gains; none is in the table.
        noise: name of the noise.
        mu: privacy level.
        memory: memory of the noise `capacity-memory`.
    """
    import pandas as pd

    known, n, made = pd.DatetimeIndex(stream.periods), stream.n_experts, find_noise(noise)
    days = [known[-1] + k * _apart(known)[1] for k in (1, 2)]
    deviations, columns = np.tile(noise_scale(stream, noise, mu)[-1], (2, 1)), {}
    if chains := memory_of(made, stream, mu, memory):
        fresh = made.scale(stream, mu)[-1] * chains.norm(stream.stay)
        deviations, columns = fresh * chains.deviations(2, n), {"a": chains.a, "b": chains.b}
    if stream.capacity is not None:
        columns["capacity"] = stream.capacity[-1]
    return pd.DataFrame(
        {
            "place": [*(stream.names if len({*stream.names}) == n else stream.entities)] * 2,
            "period": np.repeat([f"{day:%Y-%m-%d}" for day in days], n),
            "share": "",
            "deviation": deviations.ravel(),
            "noise": noise,
            **{name: np.tile(values, 2) for name, values in columns.items()},
        }
    )
